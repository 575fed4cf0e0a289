// A folder of a benchmark's own, on the disk of temporary files.
#pragma once

#include <filesystem>

namespace ballast::bench {

// Removed at the end with all that is in it, which the disk has written by then: what one measurement leaves to the
// disk is not to delay the next.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws std::runtime_error
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ballast::bench
