// The keys below `model`.
#include "common/job/key_tables.h"
#include "common/job/model_graph.h"

namespace ballast {
namespace {

constexpr double kMostHiddenUnits = 65536;
constexpr double kMostBlocks = 256;

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& model : known_models()) {
    names.emplace_back(model.name);
  }
  return names;
}

std::string models_text() {
  std::string text;
  for (const auto& model : known_models()) {
    text += (text.empty() ? "" : ", ") + std::string("`") + model.name + "` is " + model.what;
  }
  return text;
}

// Of models whose loss can be a softmax cross entropy.
std::vector<std::string> classifiers() {
  auto names = model_names();
  std::erase_if(names, [](const std::string& name) { return name.ends_with("autoencoder") || name == "emulated"; });
  return names;
}

// Of units, channels or tokens' vectors.
Key size(const char* name, Target target, const char* description, const char* unit, std::vector<std::string> models) {
  return {.path = std::string("model.") + name,
          .target = target,
          .description = description,
          .unit = unit,
          .minimum = 1,
          .maximum = kMostHiddenUnits,
          .only_with = {"model.name", std::move(models)},
          .identity = true};
}

std::vector<Key> size_keys(ModelSpec& model) {
  auto depth = size("depth", &model.depth, "Blocks of attention, one on the other", "blocks", {"transformer", "gpt"});
  depth.maximum = kMostBlocks;
  return {
      size("hidden", &model.hidden,
           "Units of each hidden layer, from input to output; of an autoencoder down to its code", "units",
           {"mlp", "autoencoder"}),
      size("channels", &model.channels, "Channels of each stage, from input to output; each halves height and width",
           "channels", {"conv_autoencoder", "simpsons_cnn"}),
      size("embedding", &model.embedding, "Length of each token's vector", "units",
           {"text_cnn", "text_lstm", "tree_lstm"}),
      size("widths", &model.widths, "Steps that the convolutions see", "steps", {"text_cnn"}),
      size("filters", &model.filters, "Channels of each width", "channels", {"text_cnn"}),
      size("units", &model.units, "Units of the LSTM, of each direction", "units", {"text_lstm", "tree_lstm"}),
      size("width", &model.width, "Channels of each step throughout", "channels", {"transformer", "gpt"}),
      depth,
      size("heads", &model.heads, "Parts that attention cuts the channels into; they divide `model.width`", "heads",
           {"transformer", "gpt"}),
  };
}

std::vector<Key> loss_keys(ModelSpec& model) {
  return {
      {.path = "model.loss",
       .target = &model.loss,
       .description = "What the last layer is judged by; `squared_error_of_input` is an autoencoder's",
       .choices = {"softmax_cross_entropy", "logistic_loss", "squared_error", "squared_error_of_input"},
       .only_with = {"model.name", {"layers"}},
       .identity = true,
       .default_note = "the first three by the data's labels: classes, several classes, numbers"},
      {.path = "model.class_weights",
       .target = &model.class_weights,
       .description = "What each class counts in a softmax cross entropy, one number for each class",
       .minimum = 0,
       .maximum = 1000000,
       .only_with = {"model.name", classifiers()},
       .identity = true,
       .default_note = "1 each"},
      {.path = "model.smoothing",
       .target = &model.smoothing,
       .description = "Share of the label that a softmax cross entropy spreads over all classes",
       .minimum = 0,
       .maximum = 0.999,
       .only_with = {"model.name", classifiers()},
       .identity = true,
       .default_note = "0"},
  };
}

std::vector<Key> emulated_keys(ModelSpec& model) {
  const OnlyWith emulated = {"model.name", {"emulated"}};
  return {
      {.path = "model.preset",
       .target = &model.preset,
       .description = "A known list of parameters instead of `model.parameters`: `resnet50` is its 161 tensors, "
                      "25,557,032 floats",
       .choices = {"resnet50"},
       .only_with = emulated,
       .identity = true},
      {.path = "model.parameters",
       .target = &model.parameters,
       .description =
           "The parameters, first layer first: `[{name: fc.weight, shape: [1000, 2048]}, ...]`. Each may "
           "have a `group`: "
           "`decay`, `no_decay` (that of one dimension) or `state`, and of `state` a `momentum` m: new = old + "
           "m * (statistic - old)",
       .minimum = 1,
       .maximum = 4294967295.0,
       .only_with = emulated,
       .identity = true},
      {.path = "model.compute_ms",
       .target = &model.compute_ms,
       .description = "Time that the gradient of one slot (with `local`: of one local step) takes; a wait, so workers "
                      "that share a machine do not slow "
                      "each other down",
       .unit = "milliseconds",
       .minimum = 0,
       .maximum = 3600000,
       .only_with = emulated,
       .identity = true},
      {.path = "model.gradient",
       .target = &model.gradient,
       .description =
           "`hashed` makes each gradient from seed, step, slot, element and weight, so that a wrong sum shows; "
           "`fixed` makes it once, so that transport is measured alone",
       .choices = {"hashed", "fixed"},
       .only_with = emulated,
       .identity = true},
  };
}

}  // namespace

std::vector<Key> model_keys(ModelSpec& model) {
  std::vector<Key> keys = {{.path = "model.name",
                            .target = &model.name,
                            .description = "The network (docs/models.md): " + models_text(),
                            .choices = model_names(),
                            .required = true,
                            .identity = true}};
  append(keys, size_keys(model));
  keys.push_back(
      {.path = "model.dropout",
       .target = &model.dropout,
       .description = "Share of the values that dropout leaves out",
       .minimum = 0,
       .maximum = 0.999,
       .only_with = {"model.name", {"simpsons_cnn", "text_cnn", "text_lstm", "tree_lstm", "transformer", "gpt"}},
       .identity = true,
       .default_note = "`transformer`, `gpt`: `0.1`; others: `0.5`"});
  keys.push_back({.path = "model.layers",
                  .target = &model.layers,
                  .description = "The network's layers, in the order in which they are computed: "
                                 "`[{conv2d: {channels: 16, kernel: 3}, name: conv1}, relu, linear: 10]`. "
                                 "Kinds and settings stand [below](#layers)",
                  .only_with = {"model.name", {"layers"}},
                  .identity = true,
                  .default_note = "*required* with `layers`"});
  append(keys, loss_keys(model));
  append(keys, emulated_keys(model));
  return keys;
}

}  // namespace ballast
