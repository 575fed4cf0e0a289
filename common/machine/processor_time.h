// What a thread has had of processors.
#pragma once

#include <chrono>
#include <ctime>

namespace ballast {

// Of the calling thread, so far. Unlike the wall's time it does not run while another has its processor.
inline std::chrono::nanoseconds processor_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

}  // namespace ballast
