// When a loop has something to do though nobody has said anything.
#pragma once

#include "protocol/ids.h"

namespace ballast {

// The first tick is due at once; each later one so long after the one before was taken. One thread.
class Ticks {
 public:
  explicit Ticks(Micros every) : every_(every) {}

  // Milliseconds, rounded up, that a poll may wait for the next one.
  [[nodiscard]] long until(Micros now) const {
    return next_ <= now ? 0 : static_cast<long>((next_ - now + 999) / 1000);
  }
  // Whether one is due; then it counts as taken.
  bool take(Micros now) {
    if (now < next_) {
      return false;
    }
    next_ = now + every_;
    return true;
  }

 private:
  Micros every_;
  Micros next_ = 0;
};

}  // namespace ballast
