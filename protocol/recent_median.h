// What is usual, by the last values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// The last values, kWindow of them at most, and their medians; of an even number the upper one. What is asked costs a
// look at all. Pure and copyable.
template <std::size_t kWindow>
class RecentMedian {
 public:
  void observe(Micros value) {
    seen_[count_ % kWindow] = value;
    ++count_;
  }
  // The newest value, which must be there, is this instead.
  void amend(Micros value) { seen_[(count_ - 1) % kWindow] = value; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // That were ever observed.
  [[nodiscard]] std::size_t count() const { return count_; }
  // 0: there is none.
  [[nodiscard]] Micros median() const { return median_of(seen_); }
  // The median of the values' distances from their median.
  [[nodiscard]] Micros deviation() const {
    const auto middle = median();
    auto deviations = seen_;
    for (auto& value : deviations) {
      value = value > middle ? value - middle : middle - value;
    }
    return median_of(deviations);
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(seen_, count_));
  }

 private:
  [[nodiscard]] Micros median_of(std::array<Micros, kWindow> values) const {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kWindow));
    const auto middle = values.begin() + (end - values.begin()) / 2;
    std::nth_element(values.begin(), middle, end);
    return end == values.begin() ? 0 : *middle;
  }

  std::array<Micros, kWindow> seen_{};
  std::size_t count_ = 0;
};

}  // namespace ballast
