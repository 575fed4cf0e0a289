#include <cmath>
#include <numbers>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

double activated(const Activation& activation, double x) {
  switch (activation.kind) {
    case Activation::Kind::relu:
      return x <= 0 ? 0 : x;
    case Activation::Kind::leaky_relu:
      return x < 0 ? static_cast<double>(activation.slope) * x : x;
    case Activation::Kind::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::Kind::tanh:
      return std::tanh(x);
    case Activation::Kind::sigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return x;
}

Shape draw_activated_shape(Draw& draw) {
  return {draw.between(1, 3), draw_channels(draw), draw.between(1, 9), draw.between(1, 9), draw.between(1, 3)};
}

// An even number of values, so that none is 0, where some have no derivative.
LayerCase draw_activation(Draw& draw, Activation::Kind kind) {
  Shape x = draw_activated_shape(draw);
  x.w *= 2;
  return {.layer = Activation{kind}, .inputs = {x}, .values = Inputs::distinct};
}

}  // namespace

Values output_of(const Activation& activation, const Given& given) {
  Values y = given.x();
  for (double& value : y.values) {
    value = activated(activation, value);
  }
  return y;
}

// Element i of the shape's order is kept by draw i.
Values output_of(const Dropout& dropout, const Given& given) {
  Values y = given.x();
  if (!given.pass.training) {
    return y;
  }
  const RandomStream stream = dropout_stream(given.pass);
  const auto first = first_dropout_draw(given.pass, given.number);
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const bool kept = stream.uniform(first + i) >= dropout.rate;
    y.values[i] = kept ? y.values[i] / (1 - static_cast<double>(dropout.rate)) : 0;
  }
  return y;
}

LayerCase draw_relu(Draw& draw, std::uint32_t /*number*/) { return draw_activation(draw, Activation::Kind::relu); }
LayerCase draw_gelu(Draw& draw, std::uint32_t /*number*/) { return draw_activation(draw, Activation::Kind::gelu); }
LayerCase draw_tanh(Draw& draw, std::uint32_t /*number*/) { return draw_activation(draw, Activation::Kind::tanh); }
LayerCase draw_sigmoid(Draw& draw, std::uint32_t /*number*/) {
  return draw_activation(draw, Activation::Kind::sigmoid);
}
// Slopes of either sign, and of none.
LayerCase draw_leaky_relu(Draw& draw, std::uint32_t number) {
  LayerCase drawn = draw_activation(draw, Activation::Kind::leaky_relu);
  constexpr float kSlopes[] = {0.01F, 0.3F, 0, -0.5F};
  std::get<Activation>(drawn.layer).slope = kSlopes[number % 4];
  return drawn;
}

// Every fourth outside training.
LayerCase draw_dropout(Draw& draw, std::uint32_t number) {
  constexpr float kRates[] = {0.5F, 0.1F, 0, 0.9F};
  return {.layer = Dropout{kRates[draw.between(0, 3)]},
          .inputs = {draw_activated_shape(draw)},
          .training = number % 4 != 3,
          .number = draw.between(0, 4095)};
}

}  // namespace ballast::layers
