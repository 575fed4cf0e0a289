#include "common/net/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace ballast {

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make an eventfd");
  }
}

Wakeup::~Wakeup() { ::close(fd_); }

void Wakeup::signal() const noexcept {
  const std::uint64_t one = 1;
  // The only failure is a full counter, and then the poll is woken anyway.
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof(one));
}

void Wakeup::clear() const noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(fd_, &count, sizeof(count));
}

}  // namespace ballast
