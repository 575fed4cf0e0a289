// What is told of repeated measurements.
#pragma once

#include <algorithm>
#include <vector>

namespace ballast::bench {

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

// `values` is not empty.
inline Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

}  // namespace ballast::bench
