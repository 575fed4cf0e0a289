#include "worker/data/text/text_files.h"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "worker/data/failures.h"
#include "worker/data/tar.h"
#include "worker/data/text/whole_text.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

const char* const kTooLarge = "is larger than the 64 MiB of a message";

bool is_hidden(std::string_view name) { return name.empty() || name.starts_with('.'); }

// SPLIT/CLASS/NAME; a "./" before it means nothing.
std::optional<TextFile> parse_path(std::string_view path, const std::vector<std::string>& splits) {
  while (path.starts_with("./")) {
    path.remove_prefix(2);
  }
  for (const auto& split : splits) {
    if (!path.starts_with(split) || path.size() <= split.size() || path[split.size()] != '/') {
      continue;
    }
    const auto rest = path.substr(split.size() + 1);
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos || rest.find('/', slash + 1) != std::string_view::npos) {
      continue;
    }
    const auto folder = rest.substr(0, slash);
    const auto name = rest.substr(slash + 1);
    if (!is_hidden(folder) && !is_hidden(name)) {
      return TextFile{split, std::string(folder), std::string(name)};
    }
  }
  return std::nullopt;
}

void read_archive(const fs::path& root, const std::vector<std::string>& splits, const TakeText& take) {
  TarReader archive(root);
  while (const auto entry = archive.next()) {
    const auto file = parse_path(entry->path, splits);
    if (!file) {
      continue;
    }
    if (entry->size > kMaxTextFile) {
      take(*file, {}, kTooLarge);
      continue;
    }
    std::string bytes(static_cast<std::size_t>(entry->size), '\0');
    archive.read(std::span(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()));
    take(*file, std::move(bytes), {});
  }
}

void read_class(const fs::path& folder, const TextFile& where, const TakeText& take) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    TextFile file = where;
    file.name = entry.path().filename().string();
    if (is_hidden(file.name) || entry.is_directory()) {
      continue;
    }
    std::string bytes;
    std::string fault;
    try {
      bytes = read_whole_text(entry.path(), kMaxTextFile);
    } catch (const std::runtime_error& error) {
      const std::string text = error.what();
      const auto prefix = entry.path().string() + ": ";
      fault = text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    }
    take(file, std::move(bytes), fault);
  }
}

}  // namespace

void read_text_files(const fs::path& root, const std::vector<std::string>& splits, const TakeText& take) {
  std::vector<bool> found(splits.size());
  const auto note = [&](const TextFile& file, std::string bytes, const std::string& fault) {
    found[static_cast<std::size_t>(std::ranges::find(splits, file.split) - splits.begin())] = true;
    take(file, std::move(bytes), fault);
  };
  if (fs::is_directory(root)) {
    for (const auto& split : splits) {
      std::error_code error;
      for (fs::directory_iterator folder(root / split, error), end; !error && folder != end; folder.increment(error)) {
        const auto name = folder->path().filename().string();
        if (folder->is_directory() && !is_hidden(name)) {
          read_class(folder->path(), {split, name, {}}, note);
        }
      }
      if (error) {
        throw_unread((root / split).string() + ": cannot be read: " + error.message() +
                         "; correct data.train, data.test or data.path",
                     error);
      }
    }
  } else {
    read_archive(root, splits, note);
  }
  const auto missing = std::ranges::find(found, false);
  if (missing != found.end()) {
    throw std::runtime_error(root.string() + " holds no file " +
                             splits[static_cast<std::size_t>(missing - found.begin())] +
                             "/CLASS/NAME; correct data.train, data.test or data.path");
  }
}

}  // namespace ballast
