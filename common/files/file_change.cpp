#include "common/files/file_change.h"

#include <sys/stat.h>

namespace ballast {

bool FileChange::seen() {
  struct stat found {};
  std::array<std::uint64_t, 7> now{};
  if (::stat(path_.c_str(), &found) == 0) {
    now = {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
           static_cast<std::uint64_t>(found.st_mtim.tv_sec) + 1, static_cast<std::uint64_t>(found.st_mtim.tv_nsec),
           // Who copies a file with its time, as `cp -p` and rsync do, can't set this one.
           static_cast<std::uint64_t>(found.st_ctim.tv_sec), static_cast<std::uint64_t>(found.st_ctim.tv_nsec)};
  }
  if (now == last_) {
    return false;
  }
  last_ = now;
  return true;
}

}  // namespace ballast
