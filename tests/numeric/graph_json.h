// A network as JSON, for another framework to compute.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "common/network/graph.h"

namespace ballast {

inline nlohmann::json to_json(Pair pair) { return {{"h", pair.h}, {"w", pair.w}}; }

// What a layer computes with, by the names of common/network/layers.h.
struct SettingsOf {
  using Json = nlohmann::json;

  Json operator()(const Conv2d& layer) const {
    return {{"stride", to_json(layer.stride)},
            {"padding", to_json(layer.padding)},
            {"dilation", to_json(layer.dilation)},
            {"groups", layer.groups}};
  }
  Json operator()(const Conv1d& layer) const {
    return {
        {"stride", layer.stride}, {"padding", layer.padding}, {"dilation", layer.dilation}, {"groups", layer.groups}};
  }
  Json operator()(const TransposedConv2d& layer) const {
    return {{"stride", to_json(layer.stride)},
            {"padding", to_json(layer.padding)},
            {"output_padding", to_json(layer.output_padding)},
            {"groups", layer.groups}};
  }
  Json operator()(const BatchNorm& layer) const { return {{"epsilon", layer.epsilon}}; }
  Json operator()(const LayerNorm& layer) const { return {{"epsilon", layer.epsilon}}; }
  Json operator()(const GroupNorm& layer) const { return {{"epsilon", layer.epsilon}, {"groups", layer.groups}}; }
  Json operator()(const MaxPool2d& layer) const { return window(layer); }
  Json operator()(const AveragePool2d& layer) const {
    auto settings = window(layer);
    settings["count_padding"] = layer.count_padding;
    return settings;
  }
  Json operator()(const GlobalPool2d& layer) const {
    return {{"kind", layer.kind == GlobalPool2d::Kind::max ? "max" : "average"}};
  }
  Json operator()(const StepPool& layer) const {
    constexpr const char* kKinds[] = {"average", "max", "first", "last"};
    return {{"kind", kKinds[static_cast<std::size_t>(layer.kind)]}};
  }
  Json operator()(const Activation& layer) const { return {{"slope", layer.slope}}; }
  Json operator()(const Dropout& layer) const { return {{"rate", layer.rate}}; }
  Json operator()(const Attention& layer) const { return {{"heads", layer.heads}, {"causal", layer.causal}}; }
  Json operator()(const Reshape& layer) const {
    return {{"height", layer.height}, {"width", layer.width}, {"join_steps", layer.join_steps}};
  }
  template <typename WithoutSettings>
  Json operator()(const WithoutSettings& /*layer*/) const {
    return Json::object();
  }

 private:
  template <typename Pool>
  static Json window(const Pool& pool) {
    return {{"window", to_json(pool.window)}, {"stride", to_json(pool.stride)}, {"padding", to_json(pool.padding)}};
  }
};

inline nlohmann::json to_json(const Loss& loss) {
  nlohmann::json json = {{"kind", name_of(loss)}};
  if (const auto* const softmax = std::get_if<SoftmaxCrossEntropy>(&loss)) {
    json["class_weights"] = softmax->class_weights;
    json["smoothing"] = softmax->smoothing;
  } else if (const auto* const squared = std::get_if<SquaredError>(&loss)) {
    json["of_input"] = squared->of_input;
  }
  return json;
}

inline nlohmann::json to_json(const Graph& graph) {
  auto layers = nlohmann::json::array();
  for (const NamedLayer& named : graph.layers) {
    auto parameters = nlohmann::json::array();
    for (const std::size_t parameter : named.parameters) {
      parameters.push_back(graph.parameters[parameter].name);
    }
    layers.push_back({{"name", named.name},
                      {"kind", name_of(named.layer)},
                      {"inputs", named.inputs},
                      {"parameters", parameters},
                      {"settings", std::visit(SettingsOf(), named.layer)}});
  }
  return {{"layers", layers}, {"loss", to_json(graph.loss)}, {"prediction", graph.prediction}};
}

}  // namespace ballast
