// Files that appear whole or not at all: written under another name, then renamed. Every place that does so does it by
// these; a place says what else it promises (what is synced, what becomes of devices), and words its own failures.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace ballast {

struct NewFileOptions {
  std::string suffix = ".new";  // of the name that it has until then
  unsigned mode = 0666;         // the process' umask is taken off
  bool synced = false;          // its content is on the disk before it gets its name
  // A device, pipe or link (/dev/stdout) is written to as it is: a rename would put a file in its place.
  bool through_special = false;
};

// One file, written front to back. What is there under its name stays as it is until finish() has succeeded; dropped
// before, it leaves nothing. One thread.
class NewFile {
 public:
  NewFile() = default;  // none
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) noexcept;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Each returns what the system refused.
  [[nodiscard]] std::error_code create(const std::filesystem::path& path, const NewFileOptions& options = {});
  [[nodiscard]] std::error_code append(std::span<const std::byte> bytes);
  [[nodiscard]] std::error_code append(std::string_view text);
  // Gives it its name. The name itself is durable only after sync_folder().
  [[nodiscard]] std::error_code finish();

 private:
  void drop();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool synced_ = false;
  int descriptor_ = -1;
};

// All of a file at once.
[[nodiscard]] std::error_code write_whole(const std::filesystem::path& path, std::string_view content,
                                          const NewFileOptions& options = {});

// Whether there is something under this name that is no regular file; links are not followed.
bool is_special(const std::filesystem::path& path);

// A new name in a folder is durable when the folder is. An empty path is the current folder.
[[nodiscard]] std::error_code sync_folder(const std::filesystem::path& folder);
// The same of all that was written to the file system that the folder is on.
[[nodiscard]] std::error_code sync_file_system(const std::filesystem::path& folder);

}  // namespace ballast
