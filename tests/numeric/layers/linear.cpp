#include "common/network/infer.h"
#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {

Values output_of(const Linear& linear, const Given& given) {
  const Values& x = given.x();
  const std::size_t features = x.shape.features();
  Values y(output_shape(linear, std::vector{x.shape}));
  for (std::size_t row = 0; row < x.shape.rows(); ++row) {
    for (std::size_t u = 0; u < linear.units; ++u) {
      double sum = linear.bias ? given.parameters[1][u] : 0;
      for (std::size_t f = 0; f < features; ++f) {
        sum += given.parameters[0][u * features + f] * x.values[row * features + f];
      }
      y.at(row, u) = sum;
    }
  }
  return y;
}

LayerCase draw_linear(Draw& draw, std::uint32_t /*number*/) {
  const Shape x{draw.between(1, 8), draw_channels(draw), draw.between(1, 4), draw.between(1, 4), draw.between(1, 3)};
  return {.layer = Linear{.units = draw.between(1, 40), .bias = draw.between(0, 3) != 0}, .inputs = {x}};
}

}  // namespace ballast::layers
