// model.layers: what it may say, what is told of mistakes, and that it survives being written.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/job/layer_kinds.h"
#include "common/job/layer_list.h"
#include "common/job/load.h"
#include "common/job/model_graph.h"
#include "common/job/model_parameters.h"
#include "common/job/own_layers.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

const std::string kHead =
    "job: own\n"                                   // 1
    "data: {name: glyphs}\n"                       // 2
    "training: {epochs: 1, slots: 2, batch: 8}\n"  // 3
    "model:\n"                                     // 4
    "  name: layers\n";                            // 5

// Each entry on a line of its own, from line 7 on.
std::string job_of(const std::vector<std::string>& entries, const std::string& more = "") {
  std::string text = kHead + "  layers:\n";
  for (const auto& entry : entries) {
    text += "    - " + entry + "\n";
  }
  return text + more;
}

const std::vector<std::string> kBranches = {
    "{conv2d: {channels: 8, kernel: 3, padding: 1}, name: stem}",
    "{conv2d: {channels: 4, kernel: 1}, name: narrow}",
    "{conv2d: {channels: 4, kernel: 3, padding: 1}, from: stem, name: wide}",
    "{max_pool2d: {window: 3, stride: 1, padding: 1}, from: stem, name: pooled}",
    "{concatenate: , from: [narrow, wide, pooled]}",
    "batch_norm",
    "relu",
    "global_pool2d",
    "{linear: {units: 10, gain: linear}}",
};

Graph graph_of(const std::string& text) {
  const auto spec = parse_job(text, "job.yaml");
  return model_graph(spec.model, example_shape(spec.data));
}

const NamedLayer& layer_of(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.layers, name, &NamedLayer::name);
  REQUIRE_MESSAGE(found != graph.layers.end(), name);
  return *found;
}

std::vector<std::string> replaced_entry(std::size_t index, const std::string& entry) {
  auto entries = kBranches;
  entries[index] = entry;
  return entries;
}

TEST_CASE("a network of three branches is written down layer by layer") {
  const auto graph = graph_of(job_of(kBranches));
  CHECK(layer_of(graph, "concatenate1").output == Shape{1, 16, 28, 28});
  CHECK(layer_of(graph, "concatenate1").inputs == std::vector<ValueId>{2, 3, 4});
  CHECK(layer_of(graph, "linear1").output == Shape{1, 10});
  CHECK(graph.parameters[0].name == "stem.weight");
  CHECK(graph.parameters[0].shape == std::vector<std::uint32_t>{8, 1, 3, 3});
  CHECK(graph.prediction == graph.layers.size());
  CHECK(name_of(graph.loss) == "softmax_cross_entropy");
}

TEST_CASE("an entry may be a kind alone, a kind with its first setting, or with several") {
  const auto graph = graph_of(job_of({"relu", "conv2d: 4", "conv2d: {channels: 4, kernel: [3, 1]}", "linear: 10"}));
  CHECK(layer_of(graph, "relu1").inputs == std::vector<ValueId>{kExample});
  CHECK(std::get<Conv2d>(layer_of(graph, "conv2d_1").layer).channels == 4);
  CHECK(std::get<Conv2d>(layer_of(graph, "conv2d_2").layer).kernel == Pair{3, 1});
  CHECK(layer_of(graph, "conv2d_2").output == Shape{1, 4, 26, 28});
}

TEST_CASE("names that layers are given by themselves leave out those that stand in the file") {
  const auto spec = parse_job(job_of({"{linear: 9, name: linear1}", "linear: 8", "linear: 10"}), "job.yaml");
  CHECK(spec.model.layers[0].name == "linear1");
  CHECK(spec.model.layers[1].name == "linear2");
  CHECK(spec.model.layers[2].name == "linear3");
}

TEST_CASE("stacked recurrent layers become several, and are read by the name of all") {
  ModelSpec model;
  model.name = "layers";
  model.layers = {{"words", Embedding{0, 6}, {}, "", 1},
                  {"gru", Gru{5, true}, {}, "", 3},
                  {"last", StepPool{StepPool::Kind::last}, {"gru"}, "", 1},
                  {"classes", Linear{4}, {}, "", 1}};
  const auto graph = model_graph(model, {.classes = 4, .vocabulary = 30, .steps = 9, .same_length = false});
  CHECK(layer_of(graph, "gru.0").inputs == std::vector<ValueId>{1});
  CHECK(layer_of(graph, "gru.2").inputs == std::vector<ValueId>{3});
  CHECK(layer_of(graph, "last").inputs == std::vector<ValueId>{4});
  CHECK(graph.parameters[1].name == "gru.0.weight_ih_l0");
}

TEST_CASE("a layer can have the weight of another") {
  ModelSpec model;
  model.name = "layers";
  model.layers = {{"words", Embedding{0, 6}, {}, "", 1}, {"next", Linear{30, false}, {}, "words", 1}};
  const ExampleShape shape = {.classes = 30, .vocabulary = 30, .steps = 9, .labels = Labels::steps};
  const auto graph = model_graph(model, shape);
  CHECK(graph.parameters.size() == 1);
  model.layers[1].tied_to = "word";
  CHECK_THROWS_WITH_AS(model_graph(model, shape),
                       "model.layers[1] 'next': tied_to: there is no layer 'word' before it; did you mean 'words'?",
                       LayerMisfit);
  model.layers = {{"words", Embedding{40, 6}, {}, "", 1}, {"next", Linear{30, false}, {}, "words", 1}};
  CHECK_THROWS_WITH_AS(model_graph(model, shape),
                       "model.layers[1] 'next': its weight of 30 x 6 cannot be that of words, which is of 40 x 6",
                       LayerMisfit);
}

TEST_CASE("layers that do not fit are told with file, line, layer and shapes") {
  CHECK(
      job_error(job_of(replaced_entry(3, "{max_pool2d: 2, from: stem, name: pooled}"))) ==
      "job.yaml:11: model.layers[4] 'concatenate1': a concatenation needs inputs that differ in their channels alone, "
      "not 4 x 28 x 28 and 4 x 28 x 28 and 8 x 14 x 14");
  CHECK(job_error(job_of(replaced_entry(0, "{conv2d: {channels: 8, kernel: 29}, name: stem}"))) ==
        "job.yaml:7: model.layers[0] 'stem': a convolution's kernel of 29 does not fit into 1 x 28 x 28");
  CHECK(job_error(job_of(replaced_entry(2, "{conv2d: 4, from: sten, name: wide}"))) ==
        "job.yaml:9: model.layers[2] 'wide': from: there is no layer 'sten' before it; did you mean 'stem'?");
  CHECK(job_error(job_of(replaced_entry(8, "linear: 9"))) ==
        "job.yaml:15: model.layers[8] 'linear1': the prediction has 9 outputs, the data has 10 classes");
  CHECK(contains(job_error(job_of(replaced_entry(8, "relu"))),
                 "model.layers[8] 'relu2': the prediction has 16 outputs, the data has 10 classes"));
  CHECK(contains(job_error(job_of({"conv2d: {channels: 10, kernel: 3}"})),
                 "the prediction of 10 x 26 x 26 has 6760 outputs, the data has 10 classes"));
  CHECK(contains(job_error(job_of({"linear: 16", "conv2d: {channels: 10, kernel: 3}"})),
                 "a convolution's kernel of 3 does not fit into 16 (height 1, width 1)"));
  CHECK(job_error(job_of(replaced_entry(4, "{concatenate: , from: [narrow, wide]}"))) ==
        "job.yaml:10: model.layers[3] 'pooled': nothing reads its output of 8 x 28 x 28; name it in the `from` of a "
        "later "
        "layer, or remove it");
  CHECK(contains(job_error(job_of(replaced_entry(5, "{batch_norm: , name: wide}"))),
                 "job.yaml:12: model.layers[5] 'wide': there is another layer of this name"));
  CHECK(contains(job_error(job_of({"embedding: 4"})), "model.layers[0] 'embedding1': an embedding reads"));
  CHECK(contains(job_error(kHead), "model.layers: no layer is named"));
}

TEST_CASE("layers of an override are told with its option") {
  CHECK(job_error(job_of(kBranches), {"model.layers=[conv2d: {channels: 4, kernel: 31}, linear: 10]"}) ==
        "--set: model.layers[0] 'conv2d_1': a convolution's kernel of 31 does not fit into 1 x 28 x 28");
}

TEST_CASE("slips of words are told with those that are meant, all of them at once") {
  const auto errors = job_errors(job_of(
      {"conf2d: 4", "relu: 3", "{conv2d: {chanels: 4}, form: relu1}", "{linear: 10, bias: false}",
       "{add: , name: example}", "{relu: , tied_to: x}", "linear: {units: 0}", "linear: {units: 4, name: x}", "[relu]",
       "{name: x}", "softmax_cross_entropy", "{dropout: 0.5, from: []}", "dropout: 1.5", "global_pool2d: averag"}));
  const std::vector<std::string> expected = {
      "job.yaml:7: model.layers[0]: 'conf2d' is no layer; did you mean 'conv2d'?",
      "job.yaml:8: model.layers[1]: relu has no settings; write it alone",
      "job.yaml:9: model.layers[2]: 'form' stands beside 'conv2d'; did you mean 'from'?",
      "job.yaml:10: model.layers[3]: 'bias' stands beside 'linear'; an entry is one layer with name, from, tied_to",
      "job.yaml:11: model.layers[4]: name: 'example' is what the network reads",
      "job.yaml:12: model.layers[5]: tied_to: relu has no weight that it could share",
      "job.yaml:13: model.layers[6]: units: '0' is out of range; allowed: 1 to 1048576",
      "job.yaml:14: model.layers[7]: 'name' stands beside the layer, not in its braces",
      "job.yaml:15: model.layers[8]: a list where a layer is needed",
      "job.yaml:16: model.layers[9] 'x': no kind of layer is named",
      "job.yaml:17: model.layers[10]: 'softmax_cross_entropy' is no layer here; it is a loss, which follows from",
      "job.yaml:18: model.layers[11]: from: a list of 0 names; allowed: 1 to 64",
      "job.yaml:19: model.layers[12]: rate: '1.5' is out of range; allowed: 0 to 0.999",
      "job.yaml:20: model.layers[13]: kind: 'averag' is not known; allowed: average, max; did you mean 'average'?",
  };
  REQUIRE(errors.size() == expected.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    CHECK_MESSAGE(errors[i].starts_with(expected[i]), errors[i]);
  }
}

TEST_CASE("a layer's name from elsewhere is told with what does the same here") {
  const std::vector<std::pair<std::string, std::string>> hints = {
      {"softmax", "softmax is a part of the loss (softmax_cross_entropy)"},
      {"flatten", "a linear layer reads all values of an image as they are, so leave it out"},
      {"dense", "write 'linear'"},
      {"Linear", "write 'linear'"},
      {"nn.Linear", "write 'linear'"},
      {"Conv2D", "write 'conv2d'"},
      {"batchnorm", "write 'batch_norm'"},
      {"BatchNorm2d", "write 'batch_norm'"},
      {"bn", "write 'batch_norm'"},
      {"relu6", "write 'relu'"},
      {"LeakyReLU", "write 'leaky_relu'"},
      {"silu", "the activations are relu, leaky_relu, gelu, tanh and sigmoid"},
      {"maxpool", "write 'max_pool2d'"},
      {"MaxPooling2D", "write 'max_pool2d'"},
      {"AdaptiveAvgPool2d", "write 'global_pool2d'"},
      {"conv_transpose2d", "write 'transposed_conv2d'"},
      {"concat", "write 'concatenate' with `from`"},
      {"CrossEntropyLoss", "it is a loss, which follows from the data's labels or is named in model.loss"},
  };
  for (const auto& [name, hint] : hints) {
    CAPTURE(name);
    const auto error = job_error(job_of({name, "linear: 10"}));
    CHECK(contains(error, "job.yaml:7: model.layers[0]: '" + name + "' is no layer here; "));
    CHECK(contains(error, hint));
  }
  CHECK(contains(job_error(job_of({"capsule", "linear: 10"})), "'capsule' is no layer; allowed: conv2d, conv1d, "));
  // What a hint tells to write is a kind that there is.
  for (const auto& [name, hint] : hints) {
    const auto begin = hint.find("write '");
    if (begin != std::string::npos) {
      const auto kind = hint.substr(begin + 7, hint.find('\'', begin + 7) - begin - 7);
      CHECK_MESSAGE(find_layer_kind(kind) != nullptr, kind);
    }
  }
}

TEST_CASE("reshape alone makes one vector of an image, as the hint for flatten says") {
  CHECK(layer_of(graph_of(job_of({"reshape", "linear: 10"})), "reshape1").output == Shape{1, 784});
}

TEST_CASE("settings that are missing or unknown are told") {
  CHECK(job_error(job_of({"{conv2d: {kernel: 3}, name: c}", "linear: 10"})) ==
        "job.yaml:7: model.layers[0] 'c': conv2d needs channels, e.g. conv2d: {channels: 32}");
  CHECK(job_error(job_of({"conv2d: {channels: 3, kernal: 3}", "linear: 10"})) ==
        "job.yaml:7: model.layers[0]: 'kernal' is no setting of conv2d; did you mean 'kernel'?");
  CHECK(job_error(job_of({"conv2d: {channels: 3, kernel: [1, 2, 3]}", "linear: 10"})) ==
        "job.yaml:7: model.layers[0]: kernel: a list of 3; one number is needed, or two: [height, width]");
  CHECK(contains(job_error(job_of({"lstm"})), "lstm needs units"));
  CHECK(contains(job_error(kHead + "  layers: relu\n"), "job.yaml:6: model.layers: a list of 1 to 1000 layers"));
}

TEST_CASE("numbers that are far too large are refused, and take no time") {
  const std::string wide = "transposed_conv2d: {channels: 1048576, kernel: 1024, stride: 1024}";
  CHECK(contains(job_error(job_of({wide, wide, wide, "linear: 10"})), "which is too large"));
  CHECK(contains(job_error(job_of({"linear: 100000", "linear: 100000", "linear: 10"})), "and a lane holds at most"));
  std::vector<std::string> many(500, "lstm: {units: 4, layers: 16}");
  many.insert(many.begin(), "reshape");
  many.emplace_back("linear: 10");
  CHECK(contains(job_error(job_of(many)), "the network has more than 4095 layers"));
}

TEST_CASE("the loss is named where the usual one is not meant") {
  const auto graph = graph_of(job_of({"linear: 4", "linear: 784"}, "  loss: squared_error_of_input\n"));
  CHECK(std::get<SquaredError>(graph.loss).of_input);
  CHECK(job_error(job_of({"linear: 10"}, "  loss: logistic_loss\n")) ==
        "job.yaml:8: model.loss: 'logistic_loss' does not fit the data's labels; choose softmax_cross_entropy, or "
        "squared_error_of_input, which needs none");
}

TEST_CASE("class weights and smoothing become the loss's, of built-in networks too") {
  const std::string weighed = "  class_weights: [1, 2, 1, 1, 1, 1, 1, 1, 1, 0.5]\n  smoothing: 0.1\n";
  const auto graph = graph_of(kHead.substr(0, kHead.find("  name:")) + "  name: lenet5\n" + weighed);
  const auto& loss = std::get<SoftmaxCrossEntropy>(graph.loss);
  CHECK(loss.class_weights[9] == 0.5F);
  CHECK(loss.smoothing == 0.1F);
  CHECK(job_error(job_of({"linear: 10"}, "  class_weights: [1, 2]\n")) ==
        "job.yaml:8: model.class_weights: 2 weights are given, and the data has 10 classes; write one for each");
  CHECK(contains(job_error(job_of({"linear: 784"}, "  loss: squared_error_of_input\n  smoothing: 0.1\n")),
                 "model.smoothing: is for softmax_cross_entropy, and the loss here is squared_error; remove it"));
}

TEST_CASE("every kind of layer is written with all its settings and reads back as the same") {
  std::string entries;
  for (const auto& kind : layer_kinds()) {
    CAPTURE(kind.name);
    CHECK(find_layer_kind(kind.name) == &kind);
    LayerSpec spec;
    spec.layer = kind.layer;
    CHECK(&kind_of(spec) == &kind);
    std::string settings;
    for (const auto& key : kind.settings(spec)) {
      CHECK_FALSE(key.description.ends_with("."));
      CHECK_FALSE(contains(key.description, "|"));
      const std::string value = key.path == "slope" ? "0.2" : key.required ? "7" : value_text(key);
      settings += (settings.empty() ? "" : ", ") + key.path + ": " + value;
    }
    entries += "- {" + kind.name + ": {" + settings + "}, from: [a, example], name: -" + kind.name + "}\n";
  }
  const auto read = read_layers(parse_yaml(entries, "entries"));
  REQUIRE(read.size() == layer_kinds().size());
  const auto text = layers_text(read, ", ");
  CHECK(layers_text(read_layers(parse_yaml(text, "text")), ", ") == text);
  CHECK(contains(text, "{leaky_relu: {slope: 0.2}, name: \"-leaky_relu\", from: [a, example]}"));
  CHECK(contains(text, "{lstm: {units: 7, both_directions: false, layers: 1}, name: \"-lstm\""));
}

TEST_CASE("the effective job is read as the same job") {
  const auto yaml = to_yaml(parse_job(job_of(kBranches), "job.yaml"));
  CHECK(to_yaml(parse_job(yaml, "effective")) == yaml);
}

TEST_CASE("the effective job has a line for each layer") {
  const auto yaml = to_yaml(parse_job(job_of({"{leaky_relu: 0.1, name: \"null\"}", "linear: 10"}), "job.yaml"));
  CHECK(contains(yaml,
                 "  layers: [{leaky_relu: {slope: 0.1}, name: \"null\"},\n"
                 "    {linear: {units: 10, bias: true, gain: relu}, name: linear1}]\n"));
}

TEST_CASE("another layer is another job") {
  const auto digest = [](const std::vector<std::string>& entries) {
    return spec_digest(parse_job(job_of(entries), "job.yaml"));
  };
  CHECK(digest(kBranches) == digest(replaced_entry(5, "{batch_norm: {epsilon: 1e-5}, name: batch_norm1}")));
  CHECK(digest(kBranches) != digest(replaced_entry(5, "{batch_norm: {epsilon: 1e-4}}")));
  CHECK(digest(kBranches) != digest(replaced_entry(6, "gelu")));
}

}  // namespace
}  // namespace ballast::testing
