// Deadlines learnt from what has been seen, not set by hand.
#pragma once

#include <algorithm>
#include <cstddef>

#include "protocol/ids.h"
#include "protocol/recent_median.h"
#include "protocol/state_list.h"

namespace ballast {

// The median and the median absolute deviation of the last observations; robust against the outliers it is there to
// find.
class LearntDeadline {
 public:
  struct Bounds {
    Micros floor;    // never sooner
    Micros initial;  // while fewer than kEnough observations are known
    Micros ceiling;  // never later
    bool operator==(const Bounds&) const = default;
  };

  explicit LearntDeadline(Bounds bounds) : bounds_(bounds) {}

  void observe(Micros span) { seen_.observe(span); }

  // Three medians plus six deviations, within the bounds.
  [[nodiscard]] Micros deadline() const {
    return seen_.count() < kEnough
               ? bounds_.initial
               : std::clamp(3 * seen_.median() + 6 * seen_.deviation(), bounds_.floor, bounds_.ceiling);
  }

  // Mostly found without a look at what was observed.
  [[nodiscard]] bool is_past(Micros span) const {
    return span > std::min(bounds_.floor, bounds_.initial) && span > deadline();
  }

  // Of the last observations; 0: there was none.
  [[nodiscard]] Micros typical() const { return seen_.median(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(bounds_), listed::parts(seen_));
  }

 private:
  static constexpr std::size_t kEnough = 5;

  Bounds bounds_;
  RecentMedian<31> seen_;
};

}  // namespace ballast
