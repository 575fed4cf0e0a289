#include <limits>
#include <stdexcept>
#include <string>

#include "common/network/infer.h"

namespace ballast {
namespace {

void require(bool fits, const std::string& otherwise) {
  if (!fits) {
    throw std::invalid_argument(otherwise);
  }
}

std::string text(std::uint32_t number) { return std::to_string(number); }
std::string text(Pair pair) { return pair.h == pair.w ? text(pair.h) : text(pair.h) + " x " + text(pair.w); }

// Of what a window slides over.
std::string planes_text(const Shape& x) {
  return example_text(x) + (x.h == 1 && x.w == 1 ? " (height 1, width 1)" : "");
}

bool is_positive(Pair pair) { return pair.h > 0 && pair.w > 0; }

// Extents are of 32 bits, and so are places within them in the libraries below.
std::uint32_t extent(std::uint64_t value, const char* what) {
  require(value <= std::numeric_limits<std::int32_t>::max(),
          std::string(what) + " would have an extent of " + std::to_string(value) + ", which is too large");
  return static_cast<std::uint32_t>(value);
}

void check_groups(std::uint32_t channels, std::uint32_t groups, const Shape& x) {
  require(groups > 0 && x.c % groups == 0 && channels % groups == 0,
          "a convolution of " + text(x.c) + " to " + text(channels) + " channels cannot be cut into " + text(groups) +
              " groups");
}

class Inference {
 public:
  explicit Inference(std::span<const Shape> inputs) : inputs_(inputs), x_(inputs[0]) {}

  Shape operator()(const Conv2d& conv) const {
    require(conv.channels > 0 && is_positive(conv.kernel) && is_positive(conv.stride) && is_positive(conv.dilation),
            "a convolution needs channels, a kernel, a stride and a dilation of at least 1");
    check_groups(conv.channels, conv.groups, x_);
    auto y = x_;
    y.c = conv.channels;
    y.h = sliding_outputs(x_.h, conv.kernel.h, conv.stride.h, conv.padding.h, conv.dilation.h);
    y.w = sliding_outputs(x_.w, conv.kernel.w, conv.stride.w, conv.padding.w, conv.dilation.w);
    require(y.h > 0 && y.w > 0,
            "a convolution's kernel of " + text(conv.kernel) + " does not fit into " + planes_text(x_));
    return y;
  }

  Shape operator()(const Conv1d& conv) const {
    require(conv.channels > 0 && conv.kernel > 0 && conv.stride > 0 && conv.dilation > 0,
            "a convolution needs channels, a kernel, a stride and a dilation of at least 1");
    check_groups(conv.channels, conv.groups, x_);
    require_vectors("a convolution along the steps");
    auto y = x_;
    y.c = conv.channels;
    y.steps = sliding_outputs(x_.steps, conv.kernel, conv.stride, conv.padding, conv.dilation);
    require(y.steps > 0,
            "a convolution's kernel of " + text(conv.kernel) + " steps does not fit into " + example_text(x_));
    return y;
  }

  Shape operator()(const TransposedConv2d& conv) const {
    require(conv.channels > 0 && is_positive(conv.kernel) && is_positive(conv.stride),
            "a transposed convolution needs channels, a kernel and a stride of at least 1");
    check_groups(conv.channels, conv.groups, x_);
    require(conv.output_padding.h < conv.stride.h && conv.output_padding.w < conv.stride.w,
            "a transposed convolution's output padding of " + text(conv.output_padding) +
                " is not smaller than its stride of " + text(conv.stride));
    auto y = x_;
    y.c = conv.channels;
    y.h = transposed(x_.h, conv.kernel.h, conv.stride.h, conv.padding.h, conv.output_padding.h);
    y.w = transposed(x_.w, conv.kernel.w, conv.stride.w, conv.padding.w, conv.output_padding.w);
    require(y.h > 0 && y.w > 0,
            "a transposed convolution's padding of " + text(conv.padding) + " leaves nothing of " + planes_text(x_));
    return y;
  }

  Shape operator()(const Linear& linear) const {
    require(linear.units > 0, "a linear layer needs at least 1 unit");
    return {x_.n, linear.units, 1, 1, x_.steps};
  }

  Shape operator()(const BatchNorm& norm) const {
    require(norm.epsilon > 0 && norm.momentum > 0 && norm.momentum <= 1,
            "a batch normalization needs an epsilon above 0 and a momentum above 0, at most 1");
    return x_;
  }
  Shape operator()(const LayerNorm& norm) const {
    require(norm.epsilon > 0, "a layer normalization needs an epsilon above 0");
    return x_;
  }
  Shape operator()(const GroupNorm& norm) const {
    require(norm.epsilon > 0, "a group normalization needs an epsilon above 0");
    require(norm.groups > 0 && x_.c % norm.groups == 0,
            text(x_.c) + " channels cannot be cut into " + text(norm.groups) + " groups");
    return x_;
  }

  Shape operator()(const Embedding& embedding) const {
    require(embedding.units > 0 && embedding.vocabulary > 0, "an embedding needs a vocabulary and at least 1 unit");
    require(x_.features() == 1, "an embedding reads tokens, not " + example_text(x_));
    return {x_.n, embedding.units, 1, 1, x_.steps};
  }
  Shape operator()(const PositionEmbedding& /*embedding*/) const {
    require_vectors("a position embedding");
    return x_;
  }

  Shape operator()(const Lstm& lstm) const { return recurrent("an LSTM", lstm.units, lstm.both_directions); }
  Shape operator()(const Gru& gru) const { return recurrent("a GRU", gru.units, gru.both_directions); }
  Shape operator()(const TreeLstm& lstm) const { return recurrent("a tree LSTM", lstm.units, false); }

  Shape operator()(const MaxPool2d& pool) const { return pooled(pool.window, pool.stride, pool.padding); }
  Shape operator()(const AveragePool2d& pool) const { return pooled(pool.window, pool.stride, pool.padding); }
  Shape operator()(const GlobalPool2d& /*pool*/) const { return {x_.n, x_.c, 1, 1, x_.steps}; }
  Shape operator()(const StepPool& /*pool*/) const { return {x_.n, x_.c, x_.h, x_.w, 1}; }

  Shape operator()(const Activation& /*activation*/) const { return x_; }
  Shape operator()(const Dropout& dropout) const {
    require(dropout.rate >= 0 && dropout.rate < 1, "a dropout needs a rate of at least 0, below 1");
    return x_;
  }

  Shape operator()(const Attention& attention) const {
    require(inputs_.size() == 3, "attention reads queries, keys and values: 3 inputs, not " + count());
    require_vectors("attention");
    require(inputs_[1] == x_ && inputs_[2] == x_,
            "attention needs queries, keys and values of one shape, not " + shapes());
    require(attention.heads > 0 && x_.c % attention.heads == 0,
            text(x_.c) + " channels cannot be cut into " + text(attention.heads) + " heads");
    return x_;
  }

  Shape operator()(const Add& /*add*/) const {
    require(inputs_.size() >= 2, "an addition needs at least 2 inputs");
    for (const Shape& other : inputs_) {
      require(other == x_, "an addition needs inputs of one shape, not " + shapes());
    }
    return x_;
  }

  Shape operator()(const Concatenate& /*concatenate*/) const {
    require(inputs_.size() >= 2, "a concatenation needs at least 2 inputs");
    std::uint64_t channels = 0;
    for (const Shape& other : inputs_) {
      auto alike = other;
      alike.c = x_.c;
      require(alike == x_, "a concatenation needs inputs that differ in their channels alone, not " + shapes());
      channels += other.c;
    }
    auto y = x_;
    y.c = extent(channels, "a concatenation");
    return y;
  }

  Shape operator()(const Reshape& reshape) const {
    const auto floats = x_.features() * (reshape.join_steps ? x_.steps : 1);
    const auto plane = std::uint64_t{reshape.height} * reshape.width;
    const auto channels = reshape.channels == 0 && plane > 0 ? floats / plane : reshape.channels;
    require(channels * plane == floats && floats > 0,
            example_text(x_) + " cannot become " +
                (reshape.channels == 0 ? "any number of" : std::to_string(reshape.channels)) + " channels x " +
                text(reshape.height) + " x " + text(reshape.width) + ": the numbers of values differ");
    return {x_.n, extent(channels, "a reshaping"), reshape.height, reshape.width, reshape.join_steps ? 1 : x_.steps};
  }

 private:
  static std::uint32_t transposed(std::uint32_t x, std::uint32_t kernel, std::uint32_t stride, std::uint32_t padding,
                                  std::uint32_t output_padding) {
    const auto whole = std::uint64_t{x - 1} * stride + kernel + output_padding;
    const auto cut = 2 * std::uint64_t{padding};
    return whole <= cut ? 0 : extent(whole - cut, "a transposed convolution's output");
  }

  [[nodiscard]] Shape pooled(Pair window, Pair stride, Pair padding) const {
    require(is_positive(window) && is_positive(stride), "a pooling needs a window and a stride of at least 1");
    require(padding.h <= window.h / 2 && padding.w <= window.w / 2,
            "a pooling's padding of " + text(padding) + " is more than half its window of " + text(window));
    auto y = x_;
    y.h = sliding_outputs(x_.h, window.h, stride.h, padding.h);
    y.w = sliding_outputs(x_.w, window.w, stride.w, padding.w);
    require(y.h > 0 && y.w > 0, "a pooling's window of " + text(window) + " does not fit into " + planes_text(x_));
    return y;
  }

  [[nodiscard]] Shape recurrent(const std::string& what, std::uint32_t units, bool both_directions) const {
    require(units > 0, what + " needs at least 1 unit");
    require_vectors(what);
    return {x_.n, extent(std::uint64_t{units} * (both_directions ? 2 : 1), what.c_str()), 1, 1, x_.steps};
  }

  void require_vectors(const std::string& what) const {
    require(x_.h == 1 && x_.w == 1, what + " needs a vector at each step, not " + example_text(x_));
  }

  [[nodiscard]] std::string count() const { return std::to_string(inputs_.size()); }
  [[nodiscard]] std::string shapes() const {
    std::string all;
    for (const Shape& shape : inputs_) {
      all += (all.empty() ? "" : " and ") + example_text(shape);
    }
    return all;
  }

  std::span<const Shape> inputs_;
  const Shape& x_;
};

bool takes_several(const Layer& layer) {
  return std::holds_alternative<Add>(layer) || std::holds_alternative<Concatenate>(layer) ||
         std::holds_alternative<Attention>(layer);
}

}  // namespace

Shape output_shape(const Layer& layer, std::span<const Shape> inputs) {
  require(!inputs.empty() && (inputs.size() == 1 || takes_several(layer)),
          "it reads " + std::to_string(inputs.size()) + " inputs; this layer reads one");
  const auto y = std::visit(Inference(inputs), layer);
  extent(extent(std::uint64_t{y.c} * y.h, "the output") * std::uint64_t{y.w}, "the output");
  return y;
}

Loss usual_loss(Labels labels) {
  switch (labels) {
    case Labels::classes:
    case Labels::steps:
      break;
    case Labels::several:
      return LogisticLoss{};
    case Labels::numbers:
      return SquaredError{};
  }
  return SoftmaxCrossEntropy{};
}

void check_loss(const Loss& loss, const Shape& prediction, const ExampleShape& example) {
  const auto outputs = prediction.features();
  const bool is_vector = prediction.steps == 1 && prediction.h == 1 && prediction.w == 1;
  const auto what = "the prediction" + (is_vector ? std::string() : " of " + example_text(prediction));
  if (const auto* const squared = std::get_if<SquaredError>(&loss); squared != nullptr && squared->of_input) {
    require(outputs == example.features() && outputs > 0, what + " has " + std::to_string(outputs) +
                                                              " values and is compared with the example, which has " +
                                                              std::to_string(example.features()));
    return;
  }
  require(outputs == example.classes,
          what + " has " + std::to_string(outputs) + " outputs, the data has " + std::to_string(example.classes) +
              (example.labels == Labels::numbers ? " numbers to be predicted" : " classes"));
  require(prediction.steps == 1 || example.labels == Labels::steps,
          what + " is of each step, but the data has one label for each example; pool the steps (step_pool)");
  require(
      example.labels != Labels::steps || prediction.steps == std::max(example.steps, 1U),
      what + " is not of each step, but the data has a label for each of " + std::to_string(example.steps) + " steps");
  const auto fitting = name_of(usual_loss(example.labels));
  require(name_of(loss) == fitting, "the loss " + name_of(loss) + " does not fit the data's labels; choose " + fitting);
  if (const auto* const softmax = std::get_if<SoftmaxCrossEntropy>(&loss)) {
    require(outputs >= 2, "a softmax needs at least 2 classes");
    require(softmax->class_weights.empty() || softmax->class_weights.size() == outputs,
            std::to_string(softmax->class_weights.size()) + " class weights were given for " + std::to_string(outputs) +
                " classes");
    require(softmax->smoothing >= 0 && softmax->smoothing < 1, "smoothing must be at least 0 and below 1");
  }
}

}  // namespace ballast
