#include "common/job/model_graph.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/job/own_layers.h"
#include "common/models/misfit.h"
#include "common/models/models.h"
#include "common/network/infer.h"

namespace ballast {
namespace {

using Spec = const ModelSpec&;
using Example = const ExampleShape&;

float rate(Spec spec) { return static_cast<float>(dropout_of(spec)); }

TransformerSize transformer_size(Spec spec) { return {spec.width, spec.depth, spec.heads, rate(spec)}; }

constexpr std::array kModels = {
    KnownModel{"mlp", "a perceptron with ReLU", [](Spec spec, Example example) { return mlp(example, spec.hidden); }},
    KnownModel{"lenet5", "a small convolutional network", [](Spec, Example example) { return lenet5(example); }},
    KnownModel{"autoencoder", "linear layers that give back what they read",
               [](Spec spec, Example example) { return autoencoder(example, spec.hidden); }},
    KnownModel{"conv_autoencoder", "the same with convolutions",
               [](Spec spec, Example example) { return conv_autoencoder(example, spec.channels); }},
    KnownModel{"vgg16", "VGG-16 for CIFAR", [](Spec, Example example) { return vgg16(example); }},
    KnownModel{"resnet20", "ResNet-20 for CIFAR", [](Spec, Example example) { return resnet_of_cifar(example, 3); }},
    KnownModel{"resnet32", "ResNet-32", [](Spec, Example example) { return resnet_of_cifar(example, 5); }},
    KnownModel{"resnet56", "ResNet-56", [](Spec, Example example) { return resnet_of_cifar(example, 9); }},
    KnownModel{"resnet50", "ResNet-50 for large images", [](Spec, Example example) { return resnet50(example); }},
    KnownModel{"simpsons_cnn", "a convolutional network with dropout for images of 64 x 64",
               [](Spec spec, Example example) { return simpsons_cnn(example, spec.channels, rate(spec)); }},
    KnownModel{"text_cnn", "convolutions over a text",
               [](Spec spec, Example example) {
                 return text_cnn(example, {spec.embedding, spec.widths, spec.filters, rate(spec)});
               }},
    KnownModel{"text_lstm", "an LSTM over a text in both directions",
               [](Spec spec, Example example) { return text_lstm(example, spec.embedding, spec.units, rate(spec)); }},
    KnownModel{"tree_lstm", "an LSTM over trees",
               [](Spec spec, Example example) { return tree_lstm(example, spec.embedding, spec.units, rate(spec)); }},
    KnownModel{"transformer", "an encoder that classifies texts",
               [](Spec spec, Example example) { return transformer(example, transformer_size(spec)); }},
    KnownModel{"gpt", "a decoder that goes on with a text",
               [](Spec spec, Example example) { return gpt(example, transformer_size(spec)); }},
    KnownModel{"layers", "what `model.layers` says", own_layers},
    KnownModel{"emulated", "a stand-in with any parameters that waits instead of computing", nullptr},
};

std::string names() {
  std::string text;
  for (std::size_t i = 0; i < kModels.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == kModels.size() ? " or " : ", ") + std::string(kModels[i].name);
  }
  return text;
}

void weigh_classes(Graph& graph, Spec spec) {
  if (spec.class_weights.empty() && !spec.smoothing) {
    return;
  }
  const std::string key = spec.class_weights.empty() ? "model.smoothing" : "model.class_weights";
  auto* const softmax = std::get_if<SoftmaxCrossEntropy>(&graph.loss);
  if (softmax == nullptr) {
    throw ModelMisfit(key, "is for softmax_cross_entropy, and the loss here is " + name_of(graph.loss) + "; remove it");
  }
  softmax->class_weights.assign(spec.class_weights.begin(), spec.class_weights.end());
  softmax->smoothing = static_cast<float>(spec.smoothing.value_or(0));
  if (!spec.class_weights.empty() && spec.class_weights.size() != graph.example.classes) {
    throw ModelMisfit(key, std::to_string(spec.class_weights.size()) + " weights are given, and the data has " +
                               std::to_string(graph.example.classes) + " classes; write one for each");
  }
}

}  // namespace

std::span<const KnownModel> known_models() { return kModels; }

bool has_graph(const ModelSpec& model) { return model.name != "emulated"; }

Graph model_graph(const ModelSpec& model, const ExampleShape& example) {
  const auto* const known = std::ranges::find(kModels, model.name, &KnownModel::name);
  if (known == kModels.end() || known->graph == nullptr) {
    throw ModelMisfit("model.name", "'" + model.name + "' is unknown; choose " + names());
  }
  auto graph = known->graph(model, example);
  weigh_classes(graph, model);
  return graph;
}

}  // namespace ballast
