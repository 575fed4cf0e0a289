#include "worker/data/unlabelled/file_feed.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "worker/data/failures.h"
#include "worker/data/image_files.h"
#include "worker/data/tar.h"
#include "worker/data/text/whole_text.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

std::string too_large(std::uint64_t most) { return "is larger than " + std::to_string(most) + " bytes"; }

// What `error` says of the file itself.
std::string fault_without_path(const std::string& error, const fs::path& path) {
  const auto prefix = path.string();
  if (!error.starts_with(prefix)) {
    return error;
  }
  const auto begin = error.find_first_not_of(":, ", prefix.size());
  return begin == std::string::npos ? error : error.substr(begin);
}

// `above`: the real paths of the folder itself and of those that it was reached through.
void list_below(const fs::path& folder, std::vector<fs::path>& above, std::vector<fs::path>& files) {
  constexpr std::size_t kDeepest = 32;
  if (above.size() == kDeepest) {
    throw std::runtime_error(folder.string() + ": lies " + std::to_string(kDeepest) +
                             " folders deep in what was named; name a part of it");
  }
  std::error_code error;
  const auto real = fs::canonical(folder, error);
  if (!error && std::ranges::find(above, real) != above.end()) {
    throw std::runtime_error(folder.string() + ": leads back to the folder " + real.string() +
                             ", which it lies in; take the link away, or name the folders that are meant");
  }
  above.push_back(real);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with('.')) {
      continue;
    }
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      list_below(entry->path(), above, files);
    } else if (entry->is_regular_file(ignored)) {
      files.push_back(entry->path());
    }
  }
  if (error) {
    throw std::runtime_error(folder.string() + ": cannot be read: " + error.message());
  }
  if (files.size() > kMaxImageFiles) {
    throw std::runtime_error(folder.string() + ": more than " + std::to_string(kMaxImageFiles) +
                             " files are in what was named; name a part of it");
  }
  above.pop_back();
}

class ListedFiles : public FileFeed {
 public:
  ListedFiles(std::vector<fs::path> files, std::uint64_t most) : files_(std::move(files)), most_(most) {
    std::ranges::sort(files_, {}, [](const fs::path& path) -> const std::string& { return path.native(); });
  }
  std::optional<FedFile> next() override {
    if (at_ == files_.size()) {
      return std::nullopt;
    }
    const auto& path = files_[at_++];
    FedFile file{path.string(), {}, {}};
    std::error_code ignored;
    if (const auto size = fs::file_size(path, ignored); !ignored && size > most_) {
      file.fault = too_large(most_);
      return file;
    }
    try {
      file.bytes = read_whole_text(path, static_cast<std::size_t>(most_));
    } catch (const ReadFailure&) {
      throw;  // the file itself may be good
    } catch (const std::runtime_error& error) {
      file.fault = fault_without_path(error.what(), path);
    }
    return file;
  }

 private:
  std::vector<fs::path> files_;
  std::uint64_t most_;
  std::size_t at_ = 0;
};

// Any part of a path in an archive.
bool has_hidden_part(std::string_view path) {
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    if (part.starts_with('.') && part != "." && part != "..") {
      return true;
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

class ArchivedFiles : public FileFeed {
 public:
  ArchivedFiles(const fs::path& path, std::uint64_t most) : path_(path), most_(most), reader_(path) {}

  std::optional<FedFile> next() override {
    while (const auto entry = reader_.next()) {
      if (has_hidden_part(entry->path)) {
        continue;
      }
      FedFile file{(path_ / fs::path(entry->path).lexically_normal().relative_path()).string(), {}, {}};
      if (entry->size > most_) {
        file.fault = too_large(most_);
      } else {
        file.bytes.resize(static_cast<std::size_t>(entry->size));
        reader_.read(std::span(reinterpret_cast<std::uint8_t*>(file.bytes.data()), file.bytes.size()));
      }
      return file;
    }
    return std::nullopt;
  }

 private:
  fs::path path_;
  std::uint64_t most_;
  TarReader reader_;
};

}  // namespace

std::unique_ptr<FileFeed> feed_files(const fs::path& path, std::uint64_t most) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    std::vector<fs::path> files;
    std::vector<fs::path> above;
    list_below(path, above, files);
    return std::make_unique<ListedFiles>(std::move(files), most);
  }
  if (is_tar(path)) {
    return std::make_unique<ArchivedFiles>(path, most);
  }
  return std::make_unique<ListedFiles>(std::vector{path}, most);
}

}  // namespace ballast
