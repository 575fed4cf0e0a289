#include "tests/numeric/layers/options.h"

namespace ballast::layers {
namespace {

using nlohmann::json;

json list(Pair pair) { return {pair.h, pair.w}; }

json fields(const Conv2d& conv) {
  return {{"kernel", list(conv.kernel)},
          {"stride", list(conv.stride)},
          {"padding", list(conv.padding)},
          {"dilation", list(conv.dilation)},
          {"groups", conv.groups}};
}
json fields(const Conv1d& conv) {
  return {{"stride", conv.stride}, {"padding", conv.padding}, {"dilation", conv.dilation}, {"groups", conv.groups}};
}
json fields(const TransposedConv2d& conv) {
  return {{"kernel", list(conv.kernel)},
          {"stride", list(conv.stride)},
          {"padding", list(conv.padding)},
          {"output_padding", list(conv.output_padding)},
          {"groups", conv.groups}};
}
json fields(const BatchNorm& norm) { return {{"epsilon", norm.epsilon}}; }
json fields(const LayerNorm& norm) { return {{"epsilon", norm.epsilon}}; }
json fields(const GroupNorm& norm) { return {{"epsilon", norm.epsilon}, {"groups", norm.groups}}; }
json fields(const Lstm& lstm) { return {{"units", lstm.units}, {"both_directions", lstm.both_directions}}; }
json fields(const Gru& gru) { return {{"units", gru.units}, {"both_directions", gru.both_directions}}; }
json fields(const TreeLstm& lstm) { return {{"units", lstm.units}}; }
json fields(const MaxPool2d& pool) {
  return {{"window", list(pool.window)}, {"stride", list(pool.stride)}, {"padding", list(pool.padding)}};
}
json fields(const AveragePool2d& pool) {
  return {{"window", list(pool.window)},
          {"stride", list(pool.stride)},
          {"padding", list(pool.padding)},
          {"count_padding", pool.count_padding}};
}
json fields(const GlobalPool2d& pool) { return {{"max", pool.kind == GlobalPool2d::Kind::max}}; }
json fields(const StepPool& pool) {
  constexpr const char* kKinds[] = {"average", "max", "first", "last"};
  return {{"kind", kKinds[static_cast<std::size_t>(pool.kind)]}};
}
json fields(const Activation& activation) { return {{"slope", activation.slope}}; }
json fields(const Dropout& dropout) { return {{"rate", dropout.rate}}; }
json fields(const Attention& attention) { return {{"heads", attention.heads}, {"causal", attention.causal}}; }
json fields(const SoftmaxCrossEntropy& loss) {
  return {{"class_weights", loss.class_weights}, {"smoothing", loss.smoothing}};
}
json fields(const SquaredError& loss) { return {{"of_input", loss.of_input}}; }

template <typename Other>
json fields(const Other& /*told by its shapes alone*/) {
  return json::object();
}

}  // namespace

json options_of(const Layer& layer) {
  return std::visit([](const auto& described) { return fields(described); }, layer);
}
json options_of(const Loss& loss) {
  return std::visit([](const auto& described) { return fields(described); }, loss);
}

}  // namespace ballast::layers
