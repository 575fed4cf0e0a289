// Every kind of layer and loss, one row each.
#include "tests/numeric/layers/cases.h"

namespace ballast::layers {

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = {
      {.name = "conv2d", .draw = draw_conv2d, .tolerance = 3e-6, .of_products = true, .threads_change_bits = true},
      {.name = "linear", .draw = draw_linear, .tolerance = 3e-6, .of_products = true, .may_be_shared = true},
      {.name = "max_pool2d", .draw = draw_max_pool2d, .tolerance = 1e-6},
      {.name = "relu", .draw = draw_relu, .tolerance = 1e-6},
  };
  return kinds;
}

const std::vector<LossKind>& loss_kinds() {
  static const std::vector<LossKind> kinds = {
      {.name = "softmax_cross_entropy", .draw = draw_softmax_cross_entropy, .tolerance = 1e-6},
  };
  return kinds;
}

}  // namespace ballast::layers
