#include <array>

#include "common/network/layers.h"

namespace ballast {
namespace {

constexpr std::array kLayers = {
    "conv2d",
    "conv1d",
    "transposed_conv2d",
    "linear",
    "batch_norm",
    "layer_norm",
    "group_norm",
    "embedding",
    "position_embedding",
    "lstm",
    "gru",
    "tree_lstm",
    "max_pool2d",
    "average_pool2d",
    "global_pool2d",
    "step_pool",
    "activation",
    "dropout",
    "attention",
    "add",
    "concatenate",
    "reshape",
};
static_assert(kLayers.size() == std::variant_size_v<Layer>);

constexpr std::array kActivations = {"relu", "leaky_relu", "gelu", "tanh", "sigmoid"};

constexpr std::array kLosses = {"softmax_cross_entropy", "squared_error", "logistic_loss"};
static_assert(kLosses.size() == std::variant_size_v<Loss>);

}  // namespace

std::string name_of(const Layer& layer) {
  if (const auto* const activation = std::get_if<Activation>(&layer)) {
    return kActivations[static_cast<std::size_t>(activation->kind)];
  }
  return kLayers[layer.index()];
}

std::string name_of(const Loss& loss) { return kLosses[loss.index()]; }

std::string numbered_name(const std::string& kind, std::size_t number) {
  const bool has_digits = kind.find_first_of("0123456789") != std::string::npos;
  return kind + (has_digits ? "_" : "") + std::to_string(number);
}

}  // namespace ballast
