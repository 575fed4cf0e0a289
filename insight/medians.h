// What is usual of some values. 0 of none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace ballast::insight {

// The value below which that part of them lie.
inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) {
    return 0;
  }
  const auto place = std::min(values.size() - 1, static_cast<std::size_t>(part * static_cast<double>(values.size())));
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(values, found);
  return *found;
}

// Of an even number of values the upper one of the two in the middle; the lower one; the mean of both.
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }
inline double lower_median(std::vector<double> values) {
  constexpr double kBelowTheMiddle = 0.5 - 1e-9;
  return quantile(std::move(values), kBelowTheMiddle);
}
inline double middle(std::vector<double> values) {
  const auto lower = lower_median(values);
  return (lower + median(std::move(values))) / 2;
}

inline double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace ballast::insight
