#include <cmath>
#include <functional>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

struct Moments {
  double count = 0;
  double mean = 0;
  double variance = 0;  // biased
};

// Calls visit(row, channel, place in the plane, index) for each value.
template <typename Visit>
void for_each_value(const Shape& shape, const Visit& visit) {
  const std::size_t plane = std::size_t{shape.h} * shape.w;
  for (std::size_t i = 0; i < shape.elements(); ++i) {
    visit(i / shape.features(), i / plane % shape.c, i % plane, i);
  }
}

// The moments of each of `sets`; set_of(row, channel) says to which a value belongs.
template <typename SetOf>
std::vector<Moments> moments_of(const Values& x, std::size_t sets, const SetOf& set_of) {
  std::vector<Moments> moments(sets);
  for_each_value(x.shape, [&](auto row, auto c, auto /*place*/, auto i) {
    ++moments[set_of(row, c)].count;
    moments[set_of(row, c)].mean += x.values[i];
  });
  for (Moments& set : moments) {
    set.mean /= set.count;
  }
  for_each_value(x.shape, [&](auto row, auto c, auto /*place*/, auto i) {
    Moments& set = moments[set_of(row, c)];
    set.variance += (x.values[i] - set.mean) * (x.values[i] - set.mean) / set.count;
  });
  return moments;
}

// parameter_of(channel, place in the plane) says which weight and bias a value has.
template <typename SetOf, typename ParameterOf>
Values normalized(const Given& given, const std::vector<Moments>& moments, float epsilon, const SetOf& set_of,
                  const ParameterOf& parameter_of) {
  Values y(given.x().shape);
  for_each_value(y.shape, [&](auto row, auto c, auto place, auto i) {
    const Moments& set = moments[set_of(row, c)];
    const std::size_t parameter = parameter_of(c, place);
    y.values[i] = given.parameters[0][parameter] * (given.x().values[i] - set.mean) /
                      std::sqrt(set.variance + static_cast<double>(epsilon)) +
                  given.parameters[1][parameter];
  });
  return y;
}

std::size_t by_channel(std::size_t /*row*/, std::size_t c) { return c; }
std::size_t channel(std::size_t c, std::size_t /*place*/) { return c; }

Shape draw_normalized_shape(Draw& draw) {
  return {draw.between(2, 4), draw_channels(draw), draw.between(2, 7), draw.between(2, 7), draw.between(1, 2)};
}

}  // namespace

std::vector<std::vector<double>> statistics_of(const BatchNorm& /*norm*/, const Given& given) {
  std::vector<std::vector<double>> statistics(given.parameters.size());
  for (const Moments& set : moments_of(given.x(), given.x().shape.c, by_channel)) {
    statistics[2].push_back(set.mean);
    statistics[3].push_back(set.count > 1 ? set.variance * set.count / (set.count - 1) : set.variance);
  }
  return statistics;
}

Values output_of(const BatchNorm& norm, const Given& given) {
  const std::size_t channels = given.x().shape.c;
  std::vector<Moments> moments(channels);
  if (given.pass.training) {
    moments = moments_of(given.x(), channels, by_channel);
  } else {
    for (std::size_t c = 0; c < channels; ++c) {
      moments[c] = {1, given.parameters[2][c], given.parameters[3][c]};
    }
  }
  return normalized(given, moments, norm.epsilon, by_channel, channel);
}

// One value of a channel, rows without planes, and planes that are cut into pieces are among the first.
LayerCase draw_batch_norm(Draw& draw, std::uint32_t number) {
  LayerCase drawn{.layer = BatchNorm{.epsilon = 1e-3F}, .inputs = {draw_normalized_shape(draw)}};
  Shape& x = drawn.inputs[0];
  if (number == 0) {
    x = {1, 20, 1, 1};
  } else if (number == 1) {
    x = {3, 5, 23, 31};
  } else if (number % 3 == 0) {
    x.n = draw.between(8, 40);
    x.h = 1;
    x.w = 1;
  }
  drawn.training = number % 5 != 4;
  return drawn;
}

Values output_of(const LayerNorm& norm, const Given& given) {
  const Shape& x = given.x().shape;
  const auto by_row = [](std::size_t row, std::size_t /*c*/) { return row; };
  const std::size_t plane = std::size_t{x.h} * x.w;
  return normalized(given, moments_of(given.x(), x.rows(), by_row), norm.epsilon, by_row,
                    [&](std::size_t c, std::size_t place) { return c * plane + place; });
}

LayerCase draw_layer_norm(Draw& draw, std::uint32_t number) {
  LayerCase drawn{.layer = LayerNorm{.epsilon = 1e-3F}, .inputs = {draw_normalized_shape(draw)}};
  Shape& x = drawn.inputs[0];
  if (number % 2 == 0) {
    x = {draw.between(1, 6), number == 0 ? 1 : draw.between(5, 70), 1, 1, draw.between(1, 4)};
  }
  return drawn;
}

Values output_of(const GroupNorm& norm, const Given& given) {
  const Shape& x = given.x().shape;
  const std::size_t channels = x.c / norm.groups;
  const auto by_group = [&](std::size_t row, std::size_t c) { return row * norm.groups + c / channels; };
  return normalized(given, moments_of(given.x(), x.rows() * norm.groups, by_group), norm.epsilon, by_group, channel);
}

LayerCase draw_group_norm(Draw& draw, std::uint32_t /*number*/) {
  const Shape x = draw_normalized_shape(draw);
  std::uint32_t groups = draw.between(1, x.c);
  while (x.c % groups != 0) {
    --groups;
  }
  return {.layer = GroupNorm{.groups = groups, .epsilon = 1e-3F}, .inputs = {x}};
}

}  // namespace ballast::layers
