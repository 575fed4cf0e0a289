#include "worker/data/class_files.h"

#include <system_error>

#include "worker/data/failures.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using TakeEntry = std::function<void(const fs::directory_entry& entry)>;

constexpr int kDeepest = 32;  // folders within a class's folder that are looked into

void require_known(const fs::path& path, const std::error_code& error) {
  if (error && may_pass(error)) {
    throw ReadFailure(path.string() + ": cannot be looked at: " + error.message());
  }
}

// Each entry of a folder that is not hidden. Returns why it cannot be looked into.
std::error_code for_each_entry(const fs::path& folder, const TakeEntry& take) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_hidden_name(entry->path().filename().string())) {
      take(*entry);
    }
  }
  return error;
}

// A link that leads nowhere, or to itself, is none.
bool is_folder(const fs::directory_entry& entry) {
  std::error_code error;
  const bool is = entry.is_directory(error);
  require_known(entry.path(), error);
  return is;
}

void require_read(const fs::path& folder, const std::error_code& error) {
  if (error) {
    throw_unread(
        folder.string() + ": cannot be read: " + error.message() + "; correct data.train, data.test or data.path",
        error);
  }
}

void add_nested(const fs::directory_entry& folder, int depth, LeftAside& aside) {
  const auto take = [&](const fs::directory_entry& entry) {
    if (is_folder(entry)) {
      add_nested(entry, depth + 1, aside);
    } else {
      aside.nested.add(entry.path());
    }
  };
  if (folder.is_symlink() || depth > kDeepest || for_each_entry(folder.path(), take)) {
    aside.nested.add(folder.path());
  }
}

}  // namespace

bool is_class_file(const fs::directory_entry& entry) {
  std::error_code error;
  const bool is = entry.is_regular_file(error);
  require_known(entry.path(), error);
  return is;
}

bool is_hidden_name(const std::string& name) { return name.empty() || name.front() == '.'; }

void for_each_class_file(const fs::path& split,
                         const std::function<void(const std::string& folder, const fs::directory_entry& entry)>& take) {
  require_read(split, for_each_entry(split, [&](const fs::directory_entry& folder) {
                 if (is_folder(folder)) {
                   const auto name = folder.path().filename().string();
                   require_read(folder.path(), for_each_entry(folder.path(), [&](const fs::directory_entry& entry) {
                                  if (!is_folder(entry)) {
                                    take(name, entry);
                                  }
                                }));
                 }
               }));
}

void LeftAside::Kind::add(const std::string& path) {
  if (count++ == 0 || path < first) {
    first = path;
  }
}

void LeftAside::Kind::add(const Kind& other) {
  if (other.count > 0 && (count == 0 || other.first < first)) {
    first = other.first;
  }
  count += other.count;
}

void LeftAside::add(const LeftAside& other) {
  nested.add(other.nested);
  outside.add(other.outside);
  dangling.add(other.dangling);
}

LeftAside left_aside(const fs::path& split) {
  LeftAside aside;
  const auto in_class = [&](const fs::directory_entry& entry) {
    std::error_code error;
    if (is_folder(entry)) {
      add_nested(entry, 1, aside);
    } else if (entry.is_symlink() && !entry.exists(error)) {
      aside.dangling.add(entry.path());
    }
  };
  require_read(split, for_each_entry(split, [&](const fs::directory_entry& folder) {
                 if (is_folder(folder)) {
                   require_read(folder.path(), for_each_entry(folder.path(), in_class));
                 } else {
                   aside.outside.add(folder.path());
                 }
               }));
  return aside;
}

}  // namespace ballast
