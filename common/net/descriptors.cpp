#include "common/net/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <limits>

namespace ballast {

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);  // where it is refused, the old one holds
  }
  return descriptor_limit();
}

std::uint64_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) {
    return descriptor_limit();
  }
  std::uint64_t count = 0;
  while (const auto* entry = ::readdir(folder)) {
    count += entry->d_name[0] != '.' ? 1 : 0;
  }
  ::closedir(folder);
  return count - 1;  // that of the folder
}

bool is_descriptor_free() {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return false;
  }
  ::close(descriptor);
  return true;
}

}  // namespace ballast
