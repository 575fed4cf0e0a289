#include <stdexcept>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {

Values output_of(const Activation& activation, const Given& given) {
  Values y = given.x();
  for (double& value : y.values) {
    switch (activation.kind) {
      case Activation::Kind::relu:
        value = value <= 0 ? 0 : value;
        break;
      default:
        throw std::logic_error("there are no loops for " + name_of(activation));
    }
  }
  return y;
}

LayerCase draw_relu(Draw& draw, std::uint32_t /*number*/) {
  const Shape x{draw.between(1, 3), draw_channels(draw), draw.between(1, 9), draw.between(1, 9), draw.between(1, 3)};
  return {.layer = Activation{Activation::Kind::relu}, .inputs = {x}, .values = Inputs::distinct};
}

}  // namespace ballast::layers
