// A file system of a chosen size, in memory, mounted in a temporary folder.
#pragma once

#include <doctest/doctest.h>
#include <sys/mount.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace ballast {

// Needs root; says so where it cannot be had.
class SmallDisk {
 public:
  explicit SmallDisk(unsigned megabytes) {
    const auto size = "size=" + std::to_string(megabytes) + "m";
    mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (!mounted_) {
      MESSAGE("skipped: no file system of a chosen size can be mounted here (this needs root)");
    }
  }
  ~SmallDisk() {
    if (mounted_) {
      ::umount(folder_.path().c_str());
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return folder_.path() / name; }
  [[nodiscard]] bool make_read_only() const {
    return ::mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  // Somebody else's file, so big that `left` bytes are free.
  void fill(std::size_t left) const {
    const auto available = std::filesystem::space(folder_.path()).available;
    std::ofstream(path("other"), std::ios::binary)
        << std::string(available > left ? available - left : std::size_t{0}, 'o');
  }
  void make_room() const { std::filesystem::remove(path("other")); }

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
};

}  // namespace ballast
