#include "cli/models/run_removal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "cli/models/closed_database.h"
#include "cli/run_folder/run_lock.h"
#include "storage/reshard/switch.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

// Takes "<before><digits>" off the front.
bool take_numbered(std::string_view& name, std::string_view before) {
  if (!name.starts_with(before)) {
    return false;
  }
  const auto end = std::find_if_not(name.begin() + static_cast<std::ptrdiff_t>(before.size()), name.end(),
                                    [](unsigned char letter) { return std::isdigit(letter) != 0; });
  const auto taken = static_cast<std::size_t>(end - name.begin());
  name.remove_prefix(taken > before.size() ? taken : 0);
  return taken > before.size();
}

// Also one that a copying cut short has left.
bool is_database_name(std::string_view name) {
  return take_numbered(name, "shard-") && (name.empty() || name == ".partial" || name == ".restoring");
}

bool is_log_name(std::string_view name) {
  if ((!take_numbered(name, "shard-") && !take_numbered(name, "worker-")) || !name.starts_with(".log")) {
    return false;
  }
  name.remove_prefix(4);
  return name.empty() || name == ".new" || (take_numbered(name, ".") && name.empty());
}

bool is_file_name(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kFiles = {"job.yaml",   "processes.json",   "lead.address", "lock",
                                                             "scale.wish", "scale.wish.taken", "scale.answer"};
  constexpr std::string_view kUnfinished = ".new";
  if (name.ends_with(kUnfinished)) {
    name.remove_suffix(kUnfinished.size());
  }
  return std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end();
}

// What to remove, in this order, and what stays.
struct Contents {
  std::vector<fs::path> ours;
  std::vector<std::string> foreign;
};

bool is_in_folder_of_ours(const fs::directory_entry& entry, const std::string& folder) {
  return folder == "logs" ? !entry.is_directory() && is_log_name(entry.path().filename().string()) : entry.is_socket();
}

void look_into(const fs::path& folder, Contents& contents) {
  const auto name = folder.filename().string();
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_in_folder_of_ours(entry, name)) {
      contents.ours.push_back(entry.path());
    } else {
      contents.foreign.push_back(name + "/" + entry.path().filename().string());
    }
  }
}

Contents contents_of(const fs::path& folder) {
  Contents contents;
  std::vector<fs::path> last;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    const bool is_folder = entry.is_directory();
    if ((is_database_name(name) && (is_folder || entry.is_symlink())) ||
        (is_reshard_name(name) && is_folder && !entry.is_symlink())) {
      contents.ours.push_back(entry.path());
    } else if (is_folder && !entry.is_symlink() && (name == "logs" || name == "sockets")) {
      look_into(entry.path(), contents);
      last.push_back(entry.path());
    } else if (!is_folder && is_file_name(name)) {
      last.push_back(entry.path());
    } else {
      contents.foreign.push_back(name);
    }
  }
  // job.yaml, lock and processes.json last: what is left when this is cut short is still listed, and goes the next
  // time.
  std::sort(last.begin(), last.end(), [](const auto& a, const auto& b) {
    const auto is_kept = [](const fs::path& path) { return !fs::is_directory(path); };
    return std::pair(is_kept(a), a) < std::pair(is_kept(b), b);
  });
  contents.ours.insert(contents.ours.end(), last.begin(), last.end());
  std::sort(contents.foreign.begin(), contents.foreign.end());
  return contents;
}

std::vector<ClosedDatabase> closed_databases(const fs::path& folder) {
  std::vector<ClosedDatabase> closed;
  for (const auto& database : databases_in(folder)) {
    if (!fs::is_symlink(database)) {  // of a link, only the link goes
      closed.emplace_back(database);
    }
  }
  return closed;
}

// A folder for logs or sockets that is not empty holds what is foreign.
void remove_ours(const fs::path& path) {
  if (fs::is_symlink(path) || !fs::is_directory(path)) {
    fs::remove(path);
  } else if (is_database_name(path.filename().string()) || is_reshard_name(path.filename().string())) {
    fs::remove_all(path);
  } else if (fs::is_empty(path)) {
    fs::remove(path);
  }
}

}  // namespace

std::vector<fs::path> databases_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (is_database_name(entry->path().filename().string()) && entry->is_directory(gone)) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> foreign_to_run(const fs::path& folder) { return contents_of(folder).foreign; }

std::vector<std::string> remove_run(const fs::path& folder) {
  const RunLock lock(folder);
  const auto closed = closed_databases(folder);
  auto contents = contents_of(folder);
  for (const auto& path : contents.ours) {
    remove_ours(path);
  }
  if (fs::is_empty(folder)) {
    fs::remove(folder);
  }
  return contents.foreign;
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

}  // namespace ballast
