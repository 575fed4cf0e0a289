// Every kind of layer and loss, one row each.
#include "tests/numeric/layers/cases.h"

namespace ballast::layers {

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = {
      {.name = "conv2d", .draw = draw_conv2d, .tolerance = 3e-6, .of_products = true, .threads_change_bits = true},
      {.name = "conv1d", .draw = draw_conv1d, .tolerance = 3e-6, .of_products = true, .threads_change_bits = true},
      {.name = "transposed_conv2d",
       .draw = draw_transposed_conv2d,
       .tolerance = 3e-6,
       .of_products = true,
       .threads_change_bits = true,
       .gradient_floor = 1},
      {.name = "linear", .draw = draw_linear, .tolerance = 3e-6, .of_products = true, .may_be_shared = true},
      {.name = "max_pool2d", .draw = draw_max_pool2d, .tolerance = 1e-6},
      {.name = "average_pool2d", .draw = draw_average_pool2d, .tolerance = 1e-6},
      {.name = "global average_pool2d", .draw = draw_global_average_pool2d, .tolerance = 1e-6},
      {.name = "global max_pool2d", .draw = draw_global_max_pool2d, .tolerance = 1e-6},
      {.name = "batch_norm", .draw = draw_batch_norm, .tolerance = 3e-6, .gradient_floor = 1},
      {.name = "layer_norm", .draw = draw_layer_norm, .tolerance = 3e-6, .gradient_floor = 1},
      {.name = "group_norm", .draw = draw_group_norm, .tolerance = 3e-6, .gradient_floor = 1},
      {.name = "add", .draw = draw_add, .tolerance = 1e-6},
      {.name = "concatenate", .draw = draw_concatenate, .tolerance = 1e-6},
      {.name = "reshape", .draw = draw_reshape, .tolerance = 1e-6},
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
