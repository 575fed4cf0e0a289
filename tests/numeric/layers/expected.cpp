#include "tests/numeric/layers/expected.h"

#include <algorithm>
#include <cmath>

#include "tests/numeric/finite_difference.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

constexpr std::size_t kPlaces = 40;  // of a gradient that is not looked at whole
constexpr double kDistance = 1e-5;

std::vector<std::size_t> draw_places(std::size_t count, Draw& draw) {
  std::vector<std::size_t> places;
  if (count <= kPlaces) {
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back(i);
    }
    return places;
  }
  places = {0, count - 1};
  while (places.size() < kPlaces) {
    places.push_back(draw.between(0, static_cast<std::uint32_t>(count - 1)));
  }
  return places;
}

// The derivative of value() if all variables move at once, each by as little as makes the way kDistance long.
double derivative_along(std::vector<double>& variables, const std::vector<double>& direction,
                        const std::function<double()>& value) {
  const auto at = variables;
  const double distance = kDistance / std::sqrt(static_cast<double>(variables.size()));
  const auto moved = [&](double by) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      variables[i] = at[i] + by * direction[i];
    }
    return value();
  };
  const double difference = moved(distance) - moved(-distance);
  variables = at;
  return difference / (2 * distance);
}

std::string told(const std::string& what, double actual, double expected) {
  return what + " is " + std::to_string(actual) + ", not " + std::to_string(expected) + " (difference " +
         std::to_string((actual - expected) * 1e6) + "e-6)";
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// So that what is not a number is not close.
bool is_close(double actual, double expected, double allowed) { return std::abs(actual - expected) <= allowed; }

}  // namespace

ExpectedGradient expected_gradient(std::vector<double>& variables, const std::function<double()>& value, Draw& draw) {
  ExpectedGradient expected;
  expected.places = draw_places(variables.size(), draw);
  for (const std::size_t place : expected.places) {
    expected.values.push_back(central_difference(variables[place], value, kDistance));
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    expected.direction.push_back(draw.between(0, 1) == 0 ? -1 : 1);
  }
  expected.along = derivative_along(variables, expected.direction, value);
  return expected;
}

Expected expect(const LayerCase& drawn, const DrawnValues& values, Draw& draw) {
  DrawnValues moving = values;
  const Pass pass = pass_of(drawn);
  const Given given{moving.inputs, moving.parameters, pass, drawn.number};
  Expected expected{reference_output(drawn.layer, given), {}, {}, reference_statistics(drawn.layer, given)};
  if (!drawn.training) {
    return expected;
  }
  const auto value = [&] { return dot(reference_output(drawn.layer, given).values, values.y_gradient.values); };
  for (Values& input : moving.inputs) {
    expected.inputs.push_back(drawn.tokens.empty() ? expected_gradient(input.values, value, draw) : ExpectedGradient{});
  }
  for (std::size_t i = 0; i < moving.parameters.size(); ++i) {
    expected.parameters.push_back(expected.statistics[i].empty() ? expected_gradient(moving.parameters[i], value, draw)
                                                                 : ExpectedGradient{});
  }
  return expected;
}

std::string difference(const std::vector<float>& actual, const std::vector<double>& expected, double tolerance) {
  if (actual.size() != expected.size()) {
    return told("the number of values", static_cast<double>(actual.size()), static_cast<double>(expected.size()));
  }
  const double allowed = tolerance * largest_of(expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!is_close(static_cast<double>(actual[i]), expected[i], allowed)) {
      return told("value " + std::to_string(i), static_cast<double>(actual[i]), expected[i]);
    }
  }
  return {};
}

std::string difference(const std::vector<float>& actual, const ExpectedGradient& expected, double tolerance,
                       double floor) {
  const std::size_t count = expected.direction.size();
  if (actual.size() != count) {
    return told("the number of values", static_cast<double>(actual.size()), static_cast<double>(count));
  }
  const double allowed = tolerance * (largest_of(expected.values) + floor);
  for (std::size_t i = 0; i < expected.places.size(); ++i) {
    const double value = static_cast<double>(actual[expected.places[i]]);
    if (!is_close(value, expected.values[i], allowed)) {
      return told("value " + std::to_string(expected.places[i]), value, expected.values[i]);
    }
  }
  double along = 0;
  double largest = largest_of(expected.values);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(actual[i]);
    along += value * expected.direction[i];
    largest = std::max(largest, std::abs(value));
  }
  const double allowed_along = tolerance * (largest + floor) * std::sqrt(static_cast<double>(count));
  if (!is_close(along, expected.along, allowed_along)) {
    return told("the derivative in all values at once", along, expected.along);
  }
  return {};
}

}  // namespace ballast::layers
