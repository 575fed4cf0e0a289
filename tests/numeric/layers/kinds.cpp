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
      {.name = "leaky_relu", .draw = draw_leaky_relu, .tolerance = 1e-6},
      {.name = "gelu", .draw = draw_gelu, .tolerance = 1e-6},
      {.name = "tanh", .draw = draw_tanh, .tolerance = 1e-6},
      {.name = "sigmoid", .draw = draw_sigmoid, .tolerance = 1e-6},
      {.name = "dropout", .draw = draw_dropout, .tolerance = 1e-6},
      {.name = "embedding", .draw = draw_embedding, .tolerance = 1e-6, .may_be_shared = true},
      {.name = "position_embedding", .draw = draw_position_embedding, .tolerance = 1e-6, .may_be_shared = true},
      {.name = "lstm", .draw = draw_lstm, .tolerance = 3e-6, .of_products = true, .may_be_shared = true},
      {.name = "gru", .draw = draw_gru, .tolerance = 3e-6, .of_products = true, .may_be_shared = true},
      {.name = "tree_lstm", .draw = draw_tree_lstm, .tolerance = 3e-6, .of_products = true, .may_be_shared = true},
      {.name = "attention", .draw = draw_attention, .tolerance = 3e-6, .of_products = true},
      {.name = "step_pool", .draw = draw_step_pool, .tolerance = 1e-6},
  };
  return kinds;
}

const std::vector<LossKind>& loss_kinds() {
  static const std::vector<LossKind> kinds = {
      {.name = "softmax_cross_entropy", .draw = draw_softmax_cross_entropy, .tolerance = 1e-6},
      {.name = "softmax_cross_entropy of steps", .draw = draw_softmax_of_steps, .tolerance = 1e-6},
      {.name = "squared_error", .draw = draw_squared_error, .tolerance = 1e-6},
      {.name = "squared_error of the input", .draw = draw_squared_error_of_input, .tolerance = 1e-6},
      {.name = "logistic_loss", .draw = draw_logistic_loss, .tolerance = 1e-6},
  };
  return kinds;
}

}  // namespace ballast::layers
