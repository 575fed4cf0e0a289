#include "worker/data/text/text_files.h"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "worker/data/failures.h"
#include "worker/data/tar.h"
#include "worker/data/text/whole_text.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

const char* const kTooLarge = "is larger than the 64 MiB of a message";

// What follows SPLIT/ in a path of an archive; a "./" before it means nothing.
std::optional<std::string_view> path_in_split(std::string_view path, const std::string& split) {
  while (path.starts_with("./")) {
    path.remove_prefix(2);
  }
  if (!path.starts_with(split) || path.size() <= split.size() || path[split.size()] != '/') {
    return std::nullopt;
  }
  return path.substr(split.size() + 1);
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash + 1);
  }
  parts.emplace_back(path);
  return parts;
}

// Of the path SPLIT/CLASS/NAME. Others of the splits are noted in `aside`, if it is given.
std::optional<TextFile> parse_path(const std::string& path, const std::vector<std::string>& splits, LeftAside* aside) {
  for (const auto& split : splits) {
    const auto rest = path_in_split(path, split);
    const auto parts = rest ? parts_of(*rest) : std::vector<std::string>();
    if (parts.empty() || std::ranges::any_of(parts, is_hidden_name)) {
      continue;
    }
    if (parts.size() == 2) {
      return TextFile{split, parts[0], parts[1]};
    }
    if (aside != nullptr) {
      (parts.size() == 1 ? aside->outside : aside->nested).add(path);
    }
  }
  return std::nullopt;
}

void read_archive(const fs::path& root, const std::vector<std::string>& splits, const TakeText& take,
                  LeftAside* aside) {
  TarReader archive(root);
  while (const auto entry = archive.next()) {
    const auto file = parse_path(entry->path, splits, aside);
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

void read_file(const fs::path& path, const TextFile& file, const TakeText& take) {
  std::string bytes;
  std::string fault;
  try {
    bytes = read_whole_text(path, kMaxTextFile);
  } catch (const ReadFailure&) {
    throw;  // the text itself may be good
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    const auto prefix = path.string() + ": ";
    fault = text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }
  take(file, std::move(bytes), fault);
}

}  // namespace

void read_text_files(const fs::path& root, const std::vector<std::string>& splits, const TakeText& take,
                     LeftAside* aside) {
  std::vector<bool> found(splits.size());
  const auto note = [&](const TextFile& file, std::string bytes, const std::string& fault) {
    found[static_cast<std::size_t>(std::ranges::find(splits, file.split) - splits.begin())] = true;
    take(file, std::move(bytes), fault);
  };
  if (fs::is_directory(root)) {
    for (const auto& split : splits) {
      for_each_class_file(root / split, [&](const std::string& folder, const fs::directory_entry& entry) {
        read_file(entry.path(), {split, folder, entry.path().filename().string()}, note);
      });
      if (aside != nullptr) {
        aside->add(left_aside(root / split));
      }
    }
  } else {
    read_archive(root, splits, note, aside);
  }
  const auto missing = std::ranges::find(found, false);
  if (missing != found.end()) {
    throw std::runtime_error(root.string() + " holds no file " +
                             splits[static_cast<std::size_t>(missing - found.begin())] +
                             "/CLASS/NAME; correct data.train, data.test or data.path");
  }
}

}  // namespace ballast
