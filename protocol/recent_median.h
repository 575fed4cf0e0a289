// What is usual, by the last values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// The median of the last 15 values. Pure and copyable.
class RecentMedian {
 public:
  void observe(Micros value) {
    seen_[count_ % seen_.size()] = value;
    ++count_;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // 0: there is none.
  [[nodiscard]] Micros median() const {
    auto values = seen_;
    const auto count = std::min(count_, values.size());
    if (count == 0) {
      return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(seen_, count_));
  }

 private:
  std::array<Micros, 15> seen_{};
  std::size_t count_ = 0;
};

}  // namespace ballast
