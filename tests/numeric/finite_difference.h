// Derivatives from values alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace ballast {

// d(value())/d(variable), by the central difference; `variable` is what value() reads.
template <typename Value>
double central_difference(double& variable, const Value& value, double distance = 1e-5) {
  const double at = variable;
  variable = at + distance;
  const double above = value();
  variable = at - distance;
  const double below = value();
  variable = at;
  return (above - below) / (2 * distance);
}

// Sum of a[i] * b[i]: turns an operation's output into one value whose gradient with respect to the output is b.
inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

}  // namespace ballast
