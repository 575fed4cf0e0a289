// Time as benchmarks take it.
#pragma once

#include <chrono>

namespace ballast::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace ballast::bench
