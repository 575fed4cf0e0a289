// The layers that networks are made of: what each is told, as plain values. What a layer computes stands here, once for
// all backends; n, steps, c, h and w are those of Shape. Where sequences differ in length, a step of a value is within
// an example's length if its number is below it; where they do not, all steps are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ballast {

// Along the height and the width. One number is both.
struct Pair {
  std::uint32_t h = 0;
  std::uint32_t w = 0;

  constexpr Pair() = default;
  constexpr Pair(std::uint32_t both) : h(both), w(both) {}  // NOLINT(google-explicit-constructor)
  constexpr Pair(std::uint32_t height, std::uint32_t width) : h(height), w(width) {}
  bool operator==(const Pair&) const = default;
};

// What initial weights keep: the mean square of activations through a ReLU behind the layer, or without one.
enum class Gain : std::uint8_t { relu, linear };

// ---- with parameters. Their names are LAYER.weight and so on; in the order in which they are listed here.

// Cross-correlation, as in every framework; padding is of zeros.
// weight: channels x c / groups x kernel.h x kernel.w; bias: channels.
struct Conv2d {
  std::uint32_t channels = 0;  // of the output
  Pair kernel = 1;
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  std::uint32_t groups = 1;
  bool bias = true;
  Gain gain = Gain::relu;
};

// The same along the steps of a sequence of vectors. Reads steps beyond an example's length as zeros.
// weight: channels x c / groups x kernel; bias: channels.
struct Conv1d {
  std::uint32_t channels = 0;
  std::uint32_t kernel = 1;
  std::uint32_t stride = 1;
  std::uint32_t padding = 0;
  std::uint32_t dilation = 1;
  std::uint32_t groups = 1;
  bool bias = true;
  Gain gain = Gain::relu;
};

// The gradient of Conv2d with respect to its input, as a layer: y.h = (x.h - 1) * stride - 2 * padding + kernel +
// output_padding. weight: c x channels / groups x kernel.h x kernel.w; bias: channels.
struct TransposedConv2d {
  std::uint32_t channels = 0;
  Pair kernel = 1;
  Pair stride = 1;
  Pair padding = 0;
  Pair output_padding = 0;  // less than stride
  std::uint32_t groups = 1;
  bool bias = true;
  Gain gain = Gain::relu;
};

// y = W x + b over all features of a row. weight: units x features; bias: units.
struct Linear {
  std::uint32_t units = 0;
  bool bias = true;
  Gain gain = Gain::relu;
};

// Over n, steps, h and w, for each channel: y = weight * (x - mean) / sqrt(variance + epsilon) + bias. In training mean
// and (biased) variance are the slot's own, and running_mean and running_var, both state, take the slot's mean and
// unbiased variance by `momentum`; elsewhere they are what is used. S. Ioffe and C. Szegedy, "Batch Normalization",
// 2015. weight, bias, running_mean, running_var: c. Of sequences only where all have the same length.
struct BatchNorm {
  float epsilon = 1e-5F;
  float momentum = 0.1F;
};

// The same over the features of each row. J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization", 2016.
// weight, bias: c x h x w.
struct LayerNorm {
  float epsilon = 1e-5F;
};

// The same over c / groups neighbouring channels, h and w of each row. Y. Wu and K. He, "Group Normalization", 2018.
// weight, bias: c.
struct GroupNorm {
  std::uint32_t groups = 1;
  float epsilon = 1e-5F;
};

// Tokens to vectors; zeros beyond an example's length. weight: vocabulary x units. A vocabulary of 0: the data's.
struct Embedding {
  std::uint32_t vocabulary = 0;
  std::uint32_t units = 0;
};

// Adds a learnt vector for each step. weight: the longest sequence's steps x c.
struct PositionEmbedding {};

// S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", 1997, with forget gates, as PyTorch has it: gates i, f,
// g, o; both biases. y: units for each step, with both directions 2 * units (forward first); zeros beyond an example's
// length, at which the backward direction begins. For each layer and direction: weight_ih_l0: 4 units x c,
// weight_hh_l0: 4 units x units, bias_ih_l0, bias_hh_l0: 4 units; of the backward direction with "_reverse" behind.
struct Lstm {
  std::uint32_t units = 0;
  bool both_directions = false;
};

// K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014, as PyTorch has it: gates r, z, n;
// n = tanh(W_in x + b_in + r * (W_hn h + b_hn)). Parameters as the LSTM's, with 3 units.
struct Gru {
  std::uint32_t units = 0;
  bool both_directions = false;
};

// K. S. Tai, R. Socher and C. D. Manning, "Improved Semantic Representations From Tree-Structured Long Short-Term
// Memory Networks", 2015, section 3.2 with N = 2: each leaf takes x, each inner node the states of its two children; h
// of every node. weight_leaf: 3 units x c (i, o, u), bias_leaf: 3 units; weight_node: 5 units x 2 units (i, f of the
// left, f of the right, o, u; over the left child's h, then the right one's), bias_node: 5 units.
struct TreeLstm {
  std::uint32_t units = 0;
};

// ---- without parameters

// The largest value of each window, padding never; the gradient goes to the first largest in row-major order.
struct MaxPool2d {
  Pair window = 2;
  Pair stride = 2;
  Pair padding = 0;  // at most half the window
};

// The mean of each window; padding counts as zeros where `count_padding`, otherwise not.
struct AveragePool2d {
  Pair window = 2;
  Pair stride = 2;
  Pair padding = 0;
  bool count_padding = true;
};

// Over height and width, to 1 x 1.
struct GlobalPool2d {
  enum class Kind : std::uint8_t { average, max };
  Kind kind = Kind::average;
};

// Over the steps of an example's length, to one step. first, last: that step's (a tree's root is its last).
struct StepPool {
  enum class Kind : std::uint8_t { average, max, first, last };
  Kind kind = Kind::average;
};

// gelu: x * Phi(x), by erf; leaky_relu: x < 0 ? slope * x : x. Derivatives at 0: relu 0, leaky_relu slope.
struct Activation {
  enum class Kind : std::uint8_t { relu, leaky_relu, gelu, tanh, sigmoid };
  Kind kind = Kind::relu;
  float slope = 0.01F;
};

// In training each value is 0 with probability `rate`, otherwise divided by 1 - rate; elsewhere it stays. Which, is a
// function of the job's seed, step, slot, local step, the layer's number and the element alone: worker/compute/pass.h.
struct Dropout {
  float rate = 0.5F;
};

// Inputs: queries, keys, values, all n x steps x c; c / heads channels a head: softmax(q k' / sqrt(c / heads)) v. Steps
// beyond an example's length are no keys; causal: nor are later steps. A. Vaswani et al., "Attention Is All You Need",
// 2017.
struct Attention {
  std::uint32_t heads = 1;
  bool causal = false;
};

// The sum of inputs of one shape, in their order.
struct Add {};

// Inputs of the same n, steps, h and w, behind each other along the channels.
struct Concatenate {};

// The features of each row in their order; all steps of an example as one row where `join_steps` (only where all
// sequences have the same length). Channels of 0: whatever is left for them.
struct Reshape {
  std::uint32_t channels = 0;
  std::uint32_t height = 1;
  std::uint32_t width = 1;
  bool join_steps = false;
};

using Layer = std::variant<Conv2d, Conv1d, TransposedConv2d, Linear, BatchNorm, LayerNorm, GroupNorm, Embedding,
                           PositionEmbedding, Lstm, Gru, TreeLstm, MaxPool2d, AveragePool2d, GlobalPool2d, StepPool,
                           Activation, Dropout, Attention, Add, Concatenate, Reshape>;

// ---- losses. An example's loss; a slot's is their sum.

// The negative logarithm of the label's softmax probability, times the label's weight. Smoothing s takes 1 - s of the
// label and s / classes of each class (C. Szegedy et al., "Rethinking the Inception Architecture", 2015); then each
// class's term has its own weight. Of Labels::steps: the mean over the example's labelled steps, 0 if there are none.
struct SoftmaxCrossEntropy {
  std::vector<float> class_weights = {};  // one for each class; empty: 1
  float smoothing = 0;
};

// The mean over the outputs of (y - target)^2. Of the autoencoder, whose target is its input: `of_input`.
struct SquaredError {
  bool of_input = false;
};

// The mean over the outputs of the logistic loss, -log sigmoid(y) where the target is 1, -log sigmoid(-y) where it is
// 0.
struct LogisticLoss {};

using Loss = std::variant<SoftmaxCrossEntropy, SquaredError, LogisticLoss>;

// As in job files and messages: "conv2d", "softmax_cross_entropy"; of an Activation its kind.
std::string name_of(const Layer& layer);
std::string name_of(const Loss& loss);

// What a layer without a name of its own is called: "relu3", "conv2d_3".
std::string numbered_name(const std::string& kind, std::size_t number);

}  // namespace ballast
