// The files that a user names, one after the other: one file, those of a folder, those of a tar archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace ballast {

struct FedFile {
  std::string path;   // of one in an archive: ARCHIVE/PATH
  std::string bytes;  // decompressed, if it is gzip; in an archive as they are
  std::string fault;  // why they cannot be had; empty if they are there
};

// Memory: one file. Not thread-safe.
class FileFeed {
 public:
  virtual ~FileFeed() = default;
  // Nothing at the end. Throws std::runtime_error for a folder that cannot be listed and a damaged archive.
  virtual std::optional<FedFile> next() = 0;
};

// Of a folder all regular files in it and below it, in the order of their paths, links followed; of a tar archive all
// regular files, in its order; otherwise the file itself. Hidden files and folders (whose names begin with a dot) are
// passed over, but for `path` itself. A file of more than `most` bytes has a fault. Throws std::runtime_error for a
// link that leads back to a folder above it, a folder that cannot be read, and too many files.
std::unique_ptr<FileFeed> feed_files(const std::filesystem::path& path, std::uint64_t most);

}  // namespace ballast
