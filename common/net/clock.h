// The time that loops hand to the cores: microseconds of a monotonic clock, never 0.
#pragma once

#include <chrono>

#include "protocol/ids.h"

namespace ballast {

inline Micros monotonic_micros() {
  return static_cast<Micros>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

}  // namespace ballast
