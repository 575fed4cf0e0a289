// Deadlines learnt from what has been seen, not set by hand.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "protocol/ids.h"
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

  void observe(Micros span) {
    seen_[count_ % seen_.size()] = span;
    ++count_;
  }

  // Three medians plus six deviations, within the bounds.
  [[nodiscard]] Micros deadline() const {
    if (count_ < kEnough) {
      return bounds_.initial;
    }
    const auto middle = median(seen_);
    auto deviations = seen_;
    for (auto& value : deviations) {
      value = value > middle ? value - middle : middle - value;
    }
    return std::clamp(3 * middle + 6 * median(deviations), bounds_.floor, bounds_.ceiling);
  }

  // Of the last observations; 0: there was none.
  [[nodiscard]] Micros typical() const { return count_ == 0 ? 0 : median(seen_); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(bounds_, seen_, count_));
  }

 private:
  static constexpr std::size_t kEnough = 5;
  static constexpr std::size_t kWindow = 31;
  using Window = std::array<Micros, kWindow>;

  [[nodiscard]] Micros median(Window values) const {
    const auto count = std::min(count_, values.size());
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
  }

  Bounds bounds_;
  Window seen_{};
  std::size_t count_ = 0;
};

}  // namespace ballast
