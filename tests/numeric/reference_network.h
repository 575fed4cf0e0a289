// Whole networks in plain loops, written down from their textbook description: layer after layer, ReLU before pooling.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "common/job/model_parameters.h"
#include "tests/numeric/reference.h"

namespace ballast::reference {

struct LayerSpec {
  enum class Kind { conv2d, linear, relu, max_pool2d };
  Kind kind = Kind::relu;
  std::string name;  // conv2d, linear
  Conv2d conv;
  MaxPool2d pool;
  std::uint32_t units = 0;  // linear
};

inline std::vector<LayerSpec> lenet5_layers(std::uint32_t classes) {
  using Kind = LayerSpec::Kind;
  return {
      {Kind::conv2d, "conv1", {6, 5, 1, 2}, {}, 0},
      {Kind::relu, "", {}, {}, 0},
      {Kind::max_pool2d, "", {}, {2, 2}, 0},
      {Kind::conv2d, "conv2", {16, 5, 1, 0}, {}, 0},
      {Kind::relu, "", {}, {}, 0},
      {Kind::max_pool2d, "", {}, {2, 2}, 0},
      {Kind::linear, "fc1", {}, {}, 120},
      {Kind::relu, "", {}, {}, 0},
      {Kind::linear, "fc2", {}, {}, 84},
      {Kind::relu, "", {}, {}, 0},
      {Kind::linear, "fc3", {}, {}, classes},
  };
}

inline std::vector<LayerSpec> mlp_layers(const std::vector<std::uint32_t>& hidden, std::uint32_t classes) {
  using Kind = LayerSpec::Kind;
  std::vector<LayerSpec> layers;
  for (const std::uint32_t units : hidden) {
    layers.push_back({Kind::linear, "fc" + std::to_string(layers.size() / 2 + 1), {}, {}, units});
    layers.push_back({Kind::relu, "", {}, {}, 0});
  }
  layers.push_back({Kind::linear, "fc" + std::to_string(layers.size() / 2 + 1), {}, {}, classes});
  return layers;
}

// Loss and gradients of one batch, in double. Weights and gradients are whole arenas.
class Network {
 public:
  Network(const Arena& arena, std::vector<LayerSpec> layers) : arena_(arena), layers_(std::move(layers)) {}

  // The sum of the losses, not scaled.
  double loss(const Tensor<double>& input, std::span<const std::int32_t> labels, std::span<const double> weights) {
    values_.assign(1, input);
    for (const LayerSpec& layer : layers_) {
      values_.push_back(forward(layer, values_.back(), weights));
    }
    return softmax_cross_entropy<double>(values_.back(), labels);
  }

  // scale * d(loss)/d(weights), after loss() of the same arguments.
  std::vector<double> gradients(std::span<const std::int32_t> labels, std::span<const double> weights, double scale) {
    std::vector<double> gradients(arena_.elements);
    Tensor<double> gradient = softmax_cross_entropy_backward<double>(values_.back(), labels, scale);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      gradient = backward(layers_[i], values_[i], gradient, weights, gradients);
    }
    return gradients;
  }

 private:
  [[nodiscard]] Extent extent_of(const std::string& name) const {
    const auto found = std::ranges::find(arena_.parameters, name, &Parameter::name);
    return arena_.extents[static_cast<std::size_t>(found - arena_.parameters.begin())];
  }
  [[nodiscard]] std::span<const double> view(const std::string& name, std::span<const double> weights) const {
    const Extent extent = extent_of(name);
    return weights.subspan(extent.offset, extent.elements);
  }

  Tensor<double> forward(const LayerSpec& layer, const Tensor<double>& x, std::span<const double> weights) const {
    switch (layer.kind) {
      case LayerSpec::Kind::conv2d:
        return conv2d(x, layer.conv, view(layer.name + ".weight", weights), view(layer.name + ".bias", weights));
      case LayerSpec::Kind::linear:
        return linear(x, layer.units, view(layer.name + ".weight", weights), view(layer.name + ".bias", weights));
      case LayerSpec::Kind::relu:
        return relu(x);
      case LayerSpec::Kind::max_pool2d:
        break;
    }
    return max_pool2d(x, layer.pool);
  }

  Tensor<double> backward(const LayerSpec& layer, const Tensor<double>& x, const Tensor<double>& y_gradient,
                          std::span<const double> weights, std::span<double> gradients) const {
    switch (layer.kind) {
      case LayerSpec::Kind::conv2d:
        return store(layer, conv2d_backward(x, layer.conv, view(layer.name + ".weight", weights), y_gradient),
                     gradients);
      case LayerSpec::Kind::linear:
        return store(layer, linear_backward(x, view(layer.name + ".weight", weights), y_gradient), gradients);
      case LayerSpec::Kind::relu:
        return relu_backward(x, y_gradient);
      case LayerSpec::Kind::max_pool2d:
        break;
    }
    return max_pool2d_backward(x, layer.pool, y_gradient);
  }

  Tensor<double> store(const LayerSpec& layer, Gradients<double> of, std::span<double> gradients) const {
    std::ranges::copy(of.weights, gradients.subspan(extent_of(layer.name + ".weight").offset).begin());
    std::ranges::copy(of.bias, gradients.subspan(extent_of(layer.name + ".bias").offset).begin());
    return std::move(of.x);
  }

  const Arena& arena_;
  std::vector<LayerSpec> layers_;
  std::vector<Tensor<double>> values_;  // the input, then each layer's output
};

}  // namespace ballast::reference
