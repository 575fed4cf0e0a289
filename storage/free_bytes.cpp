#include "storage/free_bytes.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <limits>

namespace ballast {

std::uint64_t free_bytes(const std::filesystem::path& path) {
  struct statvfs disk {};
  if (::statvfs(path.c_str(), &disk) != 0 || disk.f_blocks == 0) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return std::uint64_t{::geteuid() == 0 ? disk.f_bfree : disk.f_bavail} * disk.f_frsize;
}

}  // namespace ballast
