// Layers and losses with shapes and data, drawn: what backends are compared with the reference on.
#pragma once

#include <cstdint>
#include <vector>

#include "common/network/layers.h"
#include "common/network/shape.h"
#include "tests/numeric/draw.h"
#include "worker/compute/pass.h"

namespace ballast::layers {

// How inputs are drawn.
enum class Inputs : std::uint8_t {
  any,       // in [-1, 1]
  distinct,  // no two alike, none 0: what chooses values has one choice, and finite differences don't change it
};

// Values of inputs, parameters and the output's gradient are drawn later, in [-1, 1].
struct LayerCase {
  Layer layer;
  std::vector<Shape> inputs;
  Inputs values = Inputs::any;
  bool training = true;  // otherwise there is no backward pass
  std::uint32_t number = 3;
  // Of the batch; empty: as in Batch.
  std::vector<std::uint32_t> lengths = {};
  std::vector<std::int32_t> tokens = {};
  std::vector<std::int32_t> children = {};
};

struct LossCase {
  Loss loss;
  Shape prediction;
  ExampleShape example;
  // Of the batch.
  std::vector<std::int32_t> labels = {};
  std::vector<float> targets = {};
  std::vector<float> features = {};
  std::vector<std::uint32_t> lengths = {};
};

// Of layers of one kind.
struct LayerKind {
  const char* name;
  LayerCase (*draw)(Draw& draw, std::uint32_t number);  // number 0, 1, 2, ...: borders first, if there are any
  // Largest difference allowed, over the largest value of the reference.
  double tolerance;
  bool of_products = false;          // what is lost by short factors is allowed as well (NamedBackend::looseness)
  bool threads_change_bits = false;  // the number of threads may change the parameters' gradients
  bool may_be_shared = false;        // its parameters may be another layer's as well (ParameterPlace::adds)
  // Added to the largest value of a gradient: of one that is the small difference of large values.
  double gradient_floor = 0;
};

struct LossKind {
  const char* name;
  LossCase (*draw)(Draw& draw, std::uint32_t number);
  double tolerance;
};

// The pass that a case describes; it refers to the case.
Pass pass_of(const LayerCase& drawn);
Pass pass_of(const LossCase& drawn);

// For each example of `n` a length of 1 to `steps`.
std::vector<std::uint32_t> draw_lengths(Draw& draw, std::uint32_t n, std::uint32_t steps);
// Channels of all kinds: one, a few, whole blocks of 8 and of 16, and some more than these.
std::uint32_t draw_channels(Draw& draw);

// One function for each kind, in the file of its family.
LayerCase draw_conv2d(Draw& draw, std::uint32_t number);
LayerCase draw_conv1d(Draw& draw, std::uint32_t number);
LayerCase draw_transposed_conv2d(Draw& draw, std::uint32_t number);
LayerCase draw_linear(Draw& draw, std::uint32_t number);
LayerCase draw_max_pool2d(Draw& draw, std::uint32_t number);
LayerCase draw_average_pool2d(Draw& draw, std::uint32_t number);
LayerCase draw_global_average_pool2d(Draw& draw, std::uint32_t number);
LayerCase draw_global_max_pool2d(Draw& draw, std::uint32_t number);
LayerCase draw_batch_norm(Draw& draw, std::uint32_t number);
LayerCase draw_layer_norm(Draw& draw, std::uint32_t number);
LayerCase draw_group_norm(Draw& draw, std::uint32_t number);
LayerCase draw_add(Draw& draw, std::uint32_t number);
LayerCase draw_concatenate(Draw& draw, std::uint32_t number);
LayerCase draw_reshape(Draw& draw, std::uint32_t number);
LayerCase draw_relu(Draw& draw, std::uint32_t number);
LayerCase draw_leaky_relu(Draw& draw, std::uint32_t number);
LayerCase draw_gelu(Draw& draw, std::uint32_t number);
LayerCase draw_tanh(Draw& draw, std::uint32_t number);
LayerCase draw_sigmoid(Draw& draw, std::uint32_t number);
LayerCase draw_dropout(Draw& draw, std::uint32_t number);
LayerCase draw_embedding(Draw& draw, std::uint32_t number);
LayerCase draw_position_embedding(Draw& draw, std::uint32_t number);
LayerCase draw_lstm(Draw& draw, std::uint32_t number);
LayerCase draw_gru(Draw& draw, std::uint32_t number);
LayerCase draw_tree_lstm(Draw& draw, std::uint32_t number);
LayerCase draw_attention(Draw& draw, std::uint32_t number);
LayerCase draw_step_pool(Draw& draw, std::uint32_t number);

LossCase draw_softmax_cross_entropy(Draw& draw, std::uint32_t number);
LossCase draw_softmax_of_steps(Draw& draw, std::uint32_t number);
LossCase draw_squared_error(Draw& draw, std::uint32_t number);
LossCase draw_squared_error_of_input(Draw& draw, std::uint32_t number);
LossCase draw_logistic_loss(Draw& draw, std::uint32_t number);

const std::vector<LayerKind>& layer_kinds();
const std::vector<LossKind>& loss_kinds();

}  // namespace ballast::layers
