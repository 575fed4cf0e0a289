#include "common/job/layer_kinds.h"

#include <algorithm>
#include <utility>

namespace ballast {
namespace {

constexpr double kMostUnits = 1U << 20U;    // channels, units, groups, heads
constexpr double kMostSteps = 1024;         // of a kernel, a stride, ...
constexpr double kMostTokens = 1U << 28U;   // of a vocabulary
constexpr double kSmallestEpsilon = 1e-12;  // that float32 makes something of beside a variance
constexpr double kSmallestMomentum = 1e-6;
constexpr double kHighestRate = 0.999;

Key setting(const char* name, Target target, const char* description, double minimum, double maximum) {
  Key key;
  key.path = name;
  key.target = target;
  key.description = description;
  key.minimum = minimum;
  key.maximum = maximum;
  return key;
}

Key required(Key key) {
  key.required = true;
  return key;
}

Key chosen(const char* name, Target target, const char* description, std::vector<std::string> choices) {
  Key key = setting(name, target, description, 0, 0);
  key.choices = std::move(choices);
  return key;
}

Key flag(const char* name, bool* target, const char* description) { return setting(name, target, description, 0, 0); }

Key channels(std::uint32_t* target) {
  return required(setting("channels", target, "Channels of the output", 1, kMostUnits));
}
Key units(std::uint32_t* target, const char* description = "Units of the output") {
  return required(setting("units", target, description, 1, kMostUnits));
}
Key epsilon(float* target) {
  return setting("epsilon", target, "Added to the variance that values are divided by the root of", kSmallestEpsilon,
                 1);
}
Key bias(bool* target) { return flag("bias", target, "Whether a trained number is added to each output channel"); }
Key gain(Gain* target) {
  return chosen("gain", target,
                "How large weights begin: for a ReLU behind the layer, or for none, as at the end of a network",
                {"relu", "linear"});
}
Key groups(std::uint32_t* target) {
  return setting("groups", target, "Groups of channels that do not see each other", 1, kMostUnits);
}

template <class Conv>
std::vector<Key> convolution(Conv& conv) {
  return {channels(&conv.channels),
          setting("kernel", &conv.kernel, "Size of the window", 1, kMostSteps),
          setting("stride", &conv.stride, "How far the window moves", 1, kMostSteps),
          setting("padding", &conv.padding, "Zeros that are put around the input, at each side", 0, kMostSteps),
          setting("dilation", &conv.dilation, "How far neighbours of the window lie apart", 1, kMostSteps),
          groups(&conv.groups),
          bias(&conv.bias),
          gain(&conv.gain)};
}

std::vector<Key> conv2d(LayerSpec& spec) { return convolution(std::get<Conv2d>(spec.layer)); }
std::vector<Key> conv1d(LayerSpec& spec) { return convolution(std::get<Conv1d>(spec.layer)); }

std::vector<Key> transposed_conv2d(LayerSpec& spec) {
  auto& conv = std::get<TransposedConv2d>(spec.layer);
  return {channels(&conv.channels),
          setting("kernel", &conv.kernel, "Size of the window", 1, kMostSteps),
          setting("stride", &conv.stride, "How far the window moves in the output", 1, kMostSteps),
          setting("padding", &conv.padding, "What is cut off the output, at each side", 0, kMostSteps),
          setting("output_padding", &conv.output_padding,
                  "What the output has more at its lower and right side; less than the stride", 0, kMostSteps),
          groups(&conv.groups),
          bias(&conv.bias),
          gain(&conv.gain)};
}

std::vector<Key> linear(LayerSpec& spec) {
  auto& layer = std::get<Linear>(spec.layer);
  return {units(&layer.units), bias(&layer.bias), gain(&layer.gain)};
}

std::vector<Key> batch_norm(LayerSpec& spec) {
  auto& norm = std::get<BatchNorm>(spec.layer);
  return {epsilon(&norm.epsilon), setting("momentum", &norm.momentum,
                                          "Share of the running statistics that a step renews", kSmallestMomentum, 1)};
}
std::vector<Key> layer_norm(LayerSpec& spec) { return {epsilon(&std::get<LayerNorm>(spec.layer).epsilon)}; }
std::vector<Key> group_norm(LayerSpec& spec) {
  auto& norm = std::get<GroupNorm>(spec.layer);
  return {required(setting("groups", &norm.groups, "Groups that the channels are cut into", 1, kMostUnits)),
          epsilon(&norm.epsilon)};
}

std::vector<Key> embedding(LayerSpec& spec) {
  auto& layer = std::get<Embedding>(spec.layer);
  auto vocabulary =
      setting("vocabulary", &layer.vocabulary, "Tokens that have a vector, at least those of the data", 0, kMostTokens);
  vocabulary.default_note = "`0`: the data's";
  return {units(&layer.units, "Length of a token's vector"), vocabulary};
}

std::vector<Key> no_settings(LayerSpec& /*spec*/) { return {}; }

template <class Recurrent>
std::vector<Key> recurrent(LayerSpec& spec) {
  auto& layer = std::get<Recurrent>(spec.layer);
  return {units(&layer.units, "Units of each direction"),
          flag("both_directions", &layer.both_directions,
               "Whether a second one reads from the last step to the first; the output is twice as wide then"),
          setting("layers", &spec.stacked, "So many layers, one on the other", 1, kMaxStacked)};
}
std::vector<Key> tree_lstm(LayerSpec& spec) { return {units(&std::get<TreeLstm>(spec.layer).units)}; }

template <class Pool>
std::vector<Key> pooling(Pool& pool) {
  return {setting("window", &pool.window, "Size of the window", 1, kMostSteps),
          setting("stride", &pool.stride, "How far the window moves", 1, kMostSteps),
          setting("padding", &pool.padding, "Rows and columns around the input, at most half a window", 0, kMostSteps)};
}
std::vector<Key> max_pool2d(LayerSpec& spec) { return pooling(std::get<MaxPool2d>(spec.layer)); }
std::vector<Key> average_pool2d(LayerSpec& spec) {
  auto& pool = std::get<AveragePool2d>(spec.layer);
  auto keys = pooling(pool);
  keys.push_back(flag("count_padding", &pool.count_padding, "Whether padding counts as zeros in the mean"));
  return keys;
}
std::vector<Key> global_pool2d(LayerSpec& spec) {
  return {chosen("kind", &std::get<GlobalPool2d>(spec.layer).kind, "What is kept of all pixels", {"average", "max"})};
}
std::vector<Key> step_pool(LayerSpec& spec) {
  return {chosen("kind", &std::get<StepPool>(spec.layer).kind, "What is kept of all steps",
                 {"average", "max", "first", "last"})};
}

std::vector<Key> leaky_relu(LayerSpec& spec) {
  return {setting("slope", &std::get<Activation>(spec.layer).slope, "Of negative values", 0, 1)};
}
std::vector<Key> dropout(LayerSpec& spec) {
  return {
      setting("rate", &std::get<Dropout>(spec.layer).rate, "Share of the values that are left out", 0, kHighestRate)};
}
std::vector<Key> attention(LayerSpec& spec) {
  auto& layer = std::get<Attention>(spec.layer);
  return {setting("heads", &layer.heads, "Parts that the channels are cut into", 1, kMostUnits),
          flag("causal", &layer.causal, "Whether a step sees none of those behind it")};
}
std::vector<Key> reshape(LayerSpec& spec) {
  auto& layer = std::get<Reshape>(spec.layer);
  auto channels = setting("channels", &layer.channels, "Channels of the output", 0, kMostUnits);
  channels.default_note = "`0`: what is left for them";
  return {channels, setting("height", &layer.height, "Of the output", 1, kMostUnits),
          setting("width", &layer.width, "Of the output", 1, kMostUnits),
          flag("join_steps", &layer.join_steps, "Whether all steps of a sequence become one")};
}

LayerKind activation(const char* description, Activation::Kind kind) {
  const Layer layer = Activation{kind};
  return {name_of(layer), description, layer, kind == Activation::Kind::leaky_relu ? leaky_relu : no_settings};
}

LayerKind kind(const char* description, const Layer& layer, std::vector<Key> (*settings)(LayerSpec&)) {
  return {name_of(layer), description, layer, settings};
}

LayerKind tied(LayerKind kind) {
  kind.can_be_tied = true;
  return kind;
}

std::vector<LayerKind> make_kinds() {
  return {
      kind("Convolution over height and width", Conv2d{}, conv2d),
      kind("Convolution along the steps of a sequence of vectors", Conv1d{}, conv1d),
      kind("Transposed convolution, which makes images larger", TransposedConv2d{}, transposed_conv2d),
      tied(kind("Fully connected layer over all values of a step", Linear{}, linear)),
      kind("Batch normalization", BatchNorm{}, batch_norm),
      kind("Layer normalization", LayerNorm{}, layer_norm),
      kind("Group normalization", GroupNorm{}, group_norm),
      tied(kind("Tokens to vectors", Embedding{}, embedding)),
      kind("Adds a trained vector for each step's place", PositionEmbedding{}, no_settings),
      kind("Long short-term memory", Lstm{}, recurrent<Lstm>),
      kind("Gated recurrent unit", Gru{}, recurrent<Gru>),
      kind("LSTM over the nodes of binary trees, children first", TreeLstm{}, tree_lstm),
      kind("Largest value of each window", MaxPool2d{}, max_pool2d),
      kind("Mean of each window", AveragePool2d{}, average_pool2d),
      kind("One value of each channel", GlobalPool2d{}, global_pool2d),
      kind("One step of a sequence", StepPool{}, step_pool),
      activation("max(x, 0)", Activation::Kind::relu),
      activation("x, or `slope` times x below 0", Activation::Kind::leaky_relu),
      activation("x times the normal distribution's share below x", Activation::Kind::gelu),
      activation("Hyperbolic tangent", Activation::Kind::tanh),
      activation("1 / (1 + exp(-x))", Activation::Kind::sigmoid),
      kind("Leaves values out at random in training", Dropout{}, dropout),
      kind("Scaled dot-product attention; reads queries, keys and values", Attention{}, attention),
      kind("Sum of two or more inputs of one shape", Add{}, no_settings),
      kind("Two or more inputs, one behind the other along the channels", Concatenate{}, no_settings),
      kind("The same values in another shape", Reshape{}, reshape),
  };
}

}  // namespace

const std::vector<LayerKind>& layer_kinds() {
  static const auto kKinds = make_kinds();
  return kKinds;
}

const LayerKind* find_layer_kind(const std::string& name) {
  const auto& kinds = layer_kinds();
  const auto found = std::ranges::find(kinds, name, &LayerKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

const LayerKind& kind_of(const LayerSpec& spec) { return *find_layer_kind(name_of(spec.layer)); }

}  // namespace ballast
