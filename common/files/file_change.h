// Files that are read anew when they have changed.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>

namespace ballast {

// Whether a file has been written anew, replaced, or hidden behind a link that leads elsewhere, as Kubernetes does.
class FileChange {
 public:
  explicit FileChange(std::filesystem::path path) : path_(std::move(path)) {}
  // Since the last call; true at the first.
  bool seen();

 private:
  std::filesystem::path path_;
  std::array<std::uint64_t, 7> last_{};
};

}  // namespace ballast
