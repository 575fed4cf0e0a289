#include <cmath>
#include <string>

#include "common/arena/initial_bounds.h"
#include "common/network/infer.h"

namespace ballast {
namespace {

Initial uniform(float bound) { return {Initial::Kind::uniform, bound}; }
Initial constant(float value) { return {Initial::Kind::constant, value}; }

Initial weights_for(Gain gain, std::uint64_t fan_in) {
  return uniform(gain == Gain::relu ? relu_bound(fan_in) : output_bound(fan_in));
}

// As in PyTorch, whose recurrent layers begin so.
Initial recurrent_weights(std::uint32_t units) {
  return uniform(static_cast<float>(std::sqrt(1.0 / static_cast<double>(units))));
}

Parameter running(std::string name, std::uint32_t channels, float value, float momentum) {
  Parameter parameter{std::move(name), {channels}, Group::state, constant(value)};
  parameter.momentum = momentum;
  return parameter;
}

class Needs {
 public:
  explicit Needs(std::span<const Shape> inputs) : x_(inputs[0]) {}

  std::vector<Parameter> operator()(const Conv2d& conv) const {
    const auto inputs = x_.c / conv.groups;
    const auto fan_in = std::uint64_t{inputs} * conv.kernel.h * conv.kernel.w;
    return weighted({conv.channels, inputs, conv.kernel.h, conv.kernel.w}, weights_for(conv.gain, fan_in), conv.bias,
                    conv.channels);
  }
  std::vector<Parameter> operator()(const Conv1d& conv) const {
    const auto inputs = x_.c / conv.groups;
    return weighted({conv.channels, inputs, conv.kernel}, weights_for(conv.gain, std::uint64_t{inputs} * conv.kernel),
                    conv.bias, conv.channels);
  }
  // One output sums kernel / stride values of each of its group's inputs.
  std::vector<Parameter> operator()(const TransposedConv2d& conv) const {
    const auto kernel = std::uint64_t{conv.kernel.h} * conv.kernel.w;
    const auto stride = std::uint64_t{conv.stride.h} * conv.stride.w;
    const auto fan_in = std::max<std::uint64_t>(x_.c / conv.groups * kernel / stride, 1);
    return weighted({x_.c, conv.channels / conv.groups, conv.kernel.h, conv.kernel.w}, weights_for(conv.gain, fan_in),
                    conv.bias, conv.channels);
  }
  std::vector<Parameter> operator()(const Linear& linear) const {
    return weighted({linear.units, static_cast<std::uint32_t>(x_.features())}, weights_for(linear.gain, x_.features()),
                    linear.bias, linear.units);
  }

  std::vector<Parameter> operator()(const BatchNorm& norm) const {
    auto needs = scaled({x_.c});
    needs.push_back(running("running_mean", x_.c, 0, norm.momentum));
    needs.push_back(running("running_var", x_.c, 1, norm.momentum));
    return needs;
  }
  std::vector<Parameter> operator()(const LayerNorm& /*norm*/) const {
    return scaled(x_.h == 1 && x_.w == 1 ? std::vector{x_.c} : std::vector{x_.c, x_.h, x_.w});
  }
  std::vector<Parameter> operator()(const GroupNorm& /*norm*/) const { return scaled({x_.c}); }

  // Vectors of length 1, on average.
  std::vector<Parameter> operator()(const Embedding& embedding) const {
    return {{"weight", {embedding.vocabulary, embedding.units}, Group::decay, uniform(output_bound(embedding.units))}};
  }
  std::vector<Parameter> operator()(const PositionEmbedding& /*embedding*/) const {
    return {{"weight", {x_.steps, x_.c}, Group::no_decay, uniform(output_bound(x_.c))}};
  }

  std::vector<Parameter> operator()(const Lstm& lstm) const { return recurrent(4, lstm.units, lstm.both_directions); }
  std::vector<Parameter> operator()(const Gru& gru) const { return recurrent(3, gru.units, gru.both_directions); }
  std::vector<Parameter> operator()(const TreeLstm& lstm) const {
    const auto initial = recurrent_weights(lstm.units);
    return {{"weight_leaf", {3 * lstm.units, x_.c}, Group::decay, initial},
            {"bias_leaf", {3 * lstm.units}, Group::no_decay, {}},
            {"weight_node", {5 * lstm.units, 2 * lstm.units}, Group::decay, initial},
            {"bias_node", {5 * lstm.units}, Group::no_decay, {}}};
  }

  template <typename WithoutParameters>
  std::vector<Parameter> operator()(const WithoutParameters& /*layer*/) const {
    return {};
  }

 private:
  static std::vector<Parameter> weighted(std::vector<std::uint32_t> shape, const Initial& initial, bool bias,
                                         std::uint32_t outputs) {
    std::vector<Parameter> needs = {{"weight", std::move(shape), Group::decay, initial}};
    if (bias) {
      needs.push_back({"bias", {outputs}, Group::no_decay, {}});
    }
    return needs;
  }

  static std::vector<Parameter> scaled(const std::vector<std::uint32_t>& shape) {
    return {{"weight", shape, Group::no_decay, constant(1)}, {"bias", shape, Group::no_decay, {}}};
  }

  [[nodiscard]] std::vector<Parameter> recurrent(std::uint32_t gates, std::uint32_t units, bool both_directions) const {
    const auto initial = recurrent_weights(units);
    std::vector<Parameter> needs;
    const auto append = [&](const std::string& suffix) {
      needs.push_back({"weight_ih_l0" + suffix, {gates * units, x_.c}, Group::decay, initial});
      needs.push_back({"weight_hh_l0" + suffix, {gates * units, units}, Group::decay, initial});
      needs.push_back({"bias_ih_l0" + suffix, {gates * units}, Group::no_decay, initial});
      needs.push_back({"bias_hh_l0" + suffix, {gates * units}, Group::no_decay, initial});
    };
    append("");
    if (both_directions) {
      append("_reverse");
    }
    return needs;
  }

  const Shape& x_;
};

class Products {
 public:
  explicit Products(std::span<const Shape> inputs, const Shape& y) : x_(inputs[0]), y_(y) {}

  std::uint64_t operator()(const Conv2d& conv) const {
    return y_.elements() * (x_.c / conv.groups) * conv.kernel.h * conv.kernel.w;
  }
  std::uint64_t operator()(const Conv1d& conv) const { return y_.elements() * (x_.c / conv.groups) * conv.kernel; }
  std::uint64_t operator()(const TransposedConv2d& conv) const {
    return x_.elements() * (conv.channels / conv.groups) * conv.kernel.h * conv.kernel.w;
  }
  std::uint64_t operator()(const Linear& linear) const { return x_.elements() * linear.units; }
  std::uint64_t operator()(const Lstm& lstm) const { return recurrent(4, lstm.units, lstm.both_directions); }
  std::uint64_t operator()(const Gru& gru) const { return recurrent(3, gru.units, gru.both_directions); }
  // Half of a binary tree's nodes are leaves.
  std::uint64_t operator()(const TreeLstm& lstm) const {
    const auto leaves = (x_.rows() + 1) / 2;
    return leaves * 3 * lstm.units * x_.c + (x_.rows() - leaves) * 10 * lstm.units * lstm.units;
  }
  std::uint64_t operator()(const Attention& /*attention*/) const { return 2 * x_.elements() * x_.steps; }

  template <typename Elementwise>
  std::uint64_t operator()(const Elementwise& /*layer*/) const {
    return 0;
  }

 private:
  [[nodiscard]] std::uint64_t recurrent(std::uint64_t gates, std::uint64_t units, bool both_directions) const {
    return x_.rows() * gates * units * (x_.c + units) * (both_directions ? 2 : 1);
  }

  const Shape& x_;
  const Shape& y_;
};

}  // namespace

std::vector<Parameter> parameters_of(const Layer& layer, std::span<const Shape> inputs) {
  return std::visit(Needs(inputs), layer);
}

std::uint64_t multiplications(const Layer& layer, std::span<const Shape> inputs) {
  return std::visit(Products(inputs, output_shape(layer, inputs)), layer);
}

}  // namespace ballast
