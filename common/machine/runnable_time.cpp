#include "common/machine/runnable_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "common/machine/processor_time.h"

namespace ballast {

RunnableTime::RunnableTime() : descriptor_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

RunnableTime::~RunnableTime() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

// The file: nanoseconds on a processor, nanoseconds that it waited for one, and how often. The first is as old as the
// scheduler's last look.
std::chrono::nanoseconds RunnableTime::now() const {
  std::array<char, 96> text{};
  const auto size = descriptor_ < 0 ? 0 : ::pread(descriptor_, text.data(), text.size(), 0);
  if (size <= 0) {
    return processor_time();
  }
  const char* const end = text.data() + size;
  std::uint64_t had = 0;
  std::uint64_t waited = 0;
  const auto [after, fault] = std::from_chars(text.data(), end, had);
  if (fault != std::errc() || after == end || std::from_chars(after + 1, end, waited).ec != std::errc()) {
    return processor_time();
  }
  return processor_time() + std::chrono::nanoseconds(waited);
}

}  // namespace ballast
