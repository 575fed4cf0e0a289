#include "common/models/models.h"
#include "tests/unit/common/models/support.h"

namespace ballast::testing {
namespace {

constexpr ExampleShape kImages = {1, 28, 28, 10};
constexpr ExampleShape kTexts = {.classes = 20, .vocabulary = 1000, .steps = 50, .same_length = false};
constexpr ExampleShape kTrees = {
    .classes = 5, .vocabulary = 1000, .steps = 99, .same_length = false, .trees = true, .labels = Labels::steps};
constexpr ExampleShape kCharacters = {.classes = 65, .vocabulary = 65, .steps = 128, .labels = Labels::steps};

constexpr TransformerSize kSmall = {.width = 32, .depth = 2, .heads = 4, .dropout = 0.1F};

TEST_CASE("text_cnn has one convolution for each width and joins what they have seen most of") {
  const auto graph = text_cnn(kTexts, {.embedding = 300, .widths = {3, 4, 5}, .filters = 100, .dropout = 0.5F});
  CHECK(parameter(graph, "embedding.weight").shape == Extents{1000, 300});
  CHECK(parameter(graph, "conv4.weight").shape == Extents{100, 300, 4});
  CHECK(parameter(graph, "fc.weight").shape == Extents{20, 300});
  CHECK(floats_of(graph) == 1000 * 300 + 100 * (300 * (3 + 4 + 5) + 3) + 20 * 301);
  CHECK(text_cnn(kTexts, {.embedding = 8, .widths = {3}, .filters = 4, .dropout = 0}).layers.size() == 6);
  CHECK(refusal([] {
          return text_cnn(kTexts, {.embedding = 8, .widths = {3, 5, 3}, .filters = 4, .dropout = 0});
        }).starts_with("model.widths: 3 stands there twice"));
}

TEST_CASE("text_cnn takes the shortest text") {
  auto shortest = kTexts;
  shortest.steps = 1;
  CHECK_NOTHROW(text_cnn(shortest, {.embedding = 8, .widths = {1, 2, 3, 4, 5, 6}, .filters = 4, .dropout = 0}));
}

TEST_CASE("text_lstm reads in both directions") {
  const auto graph = text_lstm(kTexts, 100, 150, 0.5F);
  CHECK(parameter(graph, "lstm.weight_ih_l0_reverse").shape == Extents{600, 100});
  CHECK(parameter(graph, "fc.weight").shape == Extents{20, 300});
  CHECK(floats_of(graph) == 1000 * 100 + 2 * 600 * (100 + 150 + 2) + 20 * 301);
}

TEST_CASE("tree_lstm has a class at each node") {
  const auto graph = tree_lstm(kTrees, 300, 150, 0.5F);
  CHECK(parameter(graph, "tree_lstm.weight_leaf").shape == Extents{450, 300});
  CHECK(parameter(graph, "tree_lstm.weight_node").shape == Extents{750, 300});
  CHECK(graph.layers.back().output == Shape{1, 5, 1, 1, 99});
  CHECK(std::holds_alternative<SoftmaxCrossEntropy>(graph.loss));
}

TEST_CASE("transformer normalizes before each part and means over the steps") {
  const auto graph = transformer(kTexts, kSmall);
  // A block: two normalizations, four projections, and 4 x as wide a layer.
  const std::uint64_t block = 2 * 64 + 4 * (32 * 32 + 32) + (128 * 32 + 128) + (32 * 128 + 32);
  CHECK(floats_of(graph) == 1000 * 32 + 50 * 32 + 2 * block + 64 + 20 * 33);
  CHECK_FALSE(std::get<Attention>(layer(graph, "attention1").layer).causal);
  CHECK(layer(graph, "block0.attention.query").inputs == layer(graph, "block0.attention.value").inputs);
  CHECK(layer(graph, "step_pool1").output == Shape{1, 32});
}

TEST_CASE("gpt turns its embedding's weights into the next token") {
  const auto graph = gpt(kCharacters, kSmall);
  const std::uint64_t block = 2 * 64 + 4 * (32 * 32 + 32) + (128 * 32 + 128) + (32 * 128 + 32);
  CHECK(floats_of(graph) == 65 * 32 + 128 * 32 + 2 * block + 64);
  CHECK(layer(graph, "next").parameters == layer(graph, "embedding").parameters);
  CHECK(std::get<Attention>(layer(graph, "attention2").layer).causal);
  CHECK(graph.layers.back().output == Shape{1, 65, 1, 1, 128});
}

TEST_CASE("networks of sequences refuse other examples in a sentence") {
  const auto starts = [](const std::string& told, const std::string& with) {
    CHECK_MESSAGE(told.starts_with("model.name: " + with), told);
  };
  const TextCnn size = {.embedding = 8, .widths = {3}, .filters = 4, .dropout = 0};
  starts(refusal([&] { return text_cnn(kImages, size); }),
         "text_cnn needs texts (sequences of tokens) with one label each");
  starts(refusal([&] { return text_cnn(kTrees, size); }), "text_cnn needs texts");
  starts(refusal([] { return text_lstm(kCharacters, 8, 8, 0); }), "text_lstm needs texts");
  starts(refusal([] { return tree_lstm(kTexts, 8, 8, 0); }),
         "tree_lstm needs trees of tokens with a class at each node");
  starts(refusal([] { return transformer(kImages, kSmall); }), "transformer needs texts");
  CHECK(refusal([] { return gpt(kTexts, kSmall); }) ==
        "model.name: gpt needs sequences of tokens whose labels are the tokens that follow, but the data set's are "
        "sequences of up to 50 steps of 1000 tokens with 20 classes; choose another model, or another data set in "
        "data.name");
  CHECK(refusal([] { return gpt(kCharacters, {.width = 30, .depth = 1, .heads = 4, .dropout = 0}); }) ==
        "model.heads: 4 heads do not divide model.width (30); choose numbers that do");
}

}  // namespace
}  // namespace ballast::testing
