// What the reference expects of a layer: its output, and gradients by central differences of the output's product with
// the output's gradient.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/run.h"
#include "tests/numeric/layers/values.h"

namespace ballast::layers {

// Of as many places as can be afforded, first and last among them, and along one direction that every place takes part
// in: a single wrong value anywhere changes that.
struct ExpectedGradient {
  std::vector<std::size_t> places;
  std::vector<double> values;     // at these places
  std::vector<double> direction;  // 1 or -1 for each place
  double along = 0;               // the derivative in the direction
};

// Of value(), which reads `variables`, all of order 1.
ExpectedGradient expected_gradient(std::vector<double>& variables, const std::function<double()>& value, Draw& draw);

struct Expected {
  Values y;
  std::vector<ExpectedGradient> inputs;
  std::vector<ExpectedGradient> parameters;
  std::vector<std::vector<double>> statistics;  // by parameter; in place of the gradient, unless empty
};

// Without gradients if the case is not of training, and without those of inputs if it is of tokens.
Expected expect(const LayerCase& drawn, const DrawnValues& values, Draw& draw);

// A sentence on the first value that differs from `expected` by more than `tolerance` of the largest, or is not a
// number; empty if there is none.
std::string difference(const std::vector<float>& actual, const std::vector<double>& expected, double tolerance);
// `floor` is added to the largest value.
std::string difference(const std::vector<float>& actual, const ExpectedGradient& expected, double tolerance,
                       double floor);

}  // namespace ballast::layers
