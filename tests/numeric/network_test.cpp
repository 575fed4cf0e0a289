// Whole networks: their gradients against a double reference written from the textbook, and the reference's against
// finite differences.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/numeric/backends.h"
#include "tests/numeric/finite_difference.h"
#include "tests/numeric/reference_network.h"
#include "tests/numeric/setup.h"

namespace ballast {
namespace {

// Of float against double, over the largest gradient of the parameter.
constexpr double kTolerance = 2e-5;

struct Judged {
  reference::Network network;
  reference::Tensor<double> input;
  std::vector<double> weights;
};

Judged judge(const Setup& setup, std::vector<reference::LayerSpec> layers, const Examples& examples) {
  const auto count = static_cast<std::uint32_t>(examples.labels.size());
  Judged judged{reference::Network(setup.arena, std::move(layers)),
                reference::Tensor<double>({count, setup.shape.channels, setup.shape.height, setup.shape.width}),
                {setup.weights.begin(), setup.weights.end()}};
  std::ranges::copy(examples.features, judged.input.values.begin());
  return judged;
}

// One example: its activations lie near a kink of ReLU or of a maximum with little chance, and then a few elements in
// the drawn places would show it.
void check_reference_by_differences(const Setup& setup, const std::vector<reference::LayerSpec>& layers) {
  const Examples examples = draw_examples(setup.shape, 1, 11);
  Judged judged = judge(setup, layers, examples);
  judged.network.loss(judged.input, examples.labels, judged.weights);
  const auto gradients = judged.network.gradients(examples.labels, judged.weights, 1.0);
  Draw draw(5);
  for (const Extent& extent : setup.arena.extents) {
    for (int i = 0; i < 6; ++i) {
      const std::size_t at = extent.offset + draw.between(0, static_cast<std::uint32_t>(extent.elements) - 1);
      const double difference = central_difference(
          judged.weights[at], [&] { return judged.network.loss(judged.input, examples.labels, judged.weights); }, 1e-6);
      CHECK(gradients[at] == doctest::Approx(difference).epsilon(1e-5).scale(1));
    }
  }
}

void check_one_backend(const Setup& setup, const std::vector<reference::LayerSpec>& layers, std::uint32_t count) {
  const Examples examples = draw_examples(setup.shape, count, 12);
  Judged judged = judge(setup, layers, examples);
  const double loss = judged.network.loss(judged.input, examples.labels, judged.weights);
  const auto expected = judged.network.gradients(examples.labels, judged.weights, 1.0 / 40);

  const auto model = setup.make();
  std::vector<float> actual(setup.arena.elements);
  const BatchResult result = model->train({0, 0, 40, 1}, examples.batch(), setup.weights, actual, [](std::size_t) {});
  CHECK(result.loss_sum == doctest::Approx(loss).epsilon(1e-5));
  CHECK(result.examples == count);
  for (std::size_t i = 0; i < setup.arena.extents.size(); ++i) {
    CAPTURE(setup.arena.parameters[i].name);
    const auto [offset, elements] = setup.arena.extents[i];
    double largest = 0;
    for (std::size_t at = offset; at < offset + elements; ++at) {
      largest = std::max(largest, std::abs(expected[at]));
    }
    std::size_t wrong = 0;
    for (std::size_t at = offset; at < offset + elements; ++at) {
      wrong += std::abs(static_cast<double>(actual[at]) - expected[at]) <= kTolerance * largest ? 0 : 1;
    }
    CHECK(largest > 0);
    CHECK(wrong == 0);
  }
}

void check_model_by_reference(Setup& setup, const std::vector<reference::LayerSpec>& layers, std::uint32_t count) {
  CAPTURE(count);
  for (const NamedBackend& named : backends_under_test()) {
    if (named.looseness > 1) {
      continue;  // values near a kink of ReLU or a maximum fall on its other side, and the gradient is another one
    }
    CAPTURE(named.name);
    setup.backend = named.make;
    check_one_backend(setup, layers, count);
  }
}

TEST_CASE("networks: mlp") {
  Setup setup(small_mlp(), kImages);
  const auto layers = reference::mlp_layers({32, 16}, 10);
  check_reference_by_differences(setup, layers);
  check_model_by_reference(setup, layers, 16);
  check_model_by_reference(setup, layers, 1);
  check_model_by_reference(setup, layers, 5);
}

TEST_CASE("networks: mlp without hidden layers") {
  ModelSpec spec = small_mlp();
  spec.hidden = {};
  Setup setup(spec, {3, 5, 4, 7});
  const auto layers = reference::mlp_layers({}, 7);
  check_reference_by_differences(setup, layers);
  check_model_by_reference(setup, layers, 4);
}

TEST_CASE("networks: lenet5") {
  Setup setup(model_named("lenet5"), kImages);
  const auto layers = reference::lenet5_layers(10);
  check_reference_by_differences(setup, layers);
  check_model_by_reference(setup, layers, 16);
  check_model_by_reference(setup, layers, 3);
}

TEST_CASE("networks: lenet5 on images of another size") {
  Setup setup(model_named("lenet5"), {3, 20, 15, 4});
  check_model_by_reference(setup, reference::lenet5_layers(4), 5);
}

float largest_of(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// A bias of attention's keys has no gradient but what rounding leaves, as softmax takes the same from all scores: so
// differences are over the largest gradient of the parameter, or a hundredth of the network's.
void check_gradients(const Setup& setup, const std::vector<float>& actual, const std::vector<float>& expected) {
  const float floor = largest_of(expected) / 100;
  for (std::size_t i = 0; i < setup.arena.extents.size(); ++i) {
    CAPTURE(setup.arena.parameters[i].name);
    const auto [offset, elements] = setup.arena.extents[i];
    const float largest = largest_of(std::span(expected).subspan(offset, elements));
    const float allowed = static_cast<float>(kTolerance) * std::max(largest, floor);
    std::size_t wrong = 0;
    for (std::size_t at = offset; at < offset + elements; ++at) {
      wrong += std::abs(actual[at] - expected[at]) <= allowed ? 0 : 1;
    }
    CHECK(largest > 0);
    CHECK(wrong == 0);
  }
}

// Layers are held one by one against loops, and networks against PyTorch on the cpu: this is for what stands between.
void check_as_on_cpu(Setup& setup) {
  CAPTURE(setup.spec.name);
  for (const std::uint32_t count : {5U, 2U}) {
    CAPTURE(count);
    const Examples examples = draw_examples(setup.shape, count, count);
    setup.backend = on_cpu(1);
    const auto on_the_cpu = setup.make();
    const auto gradients = setup.gradients(*on_the_cpu, {3, 1, 40, 1}, examples.batch());
    const double loss = on_the_cpu->evaluate(examples.batch(), setup.weights).loss_sum;
    for (const NamedBackend& named : backends_under_test()) {
      if (named.looseness > 1) {
        continue;
      }
      CAPTURE(named.name);
      setup.backend = named.make;
      const auto model = setup.make();
      check_gradients(setup, setup.gradients(*model, {3, 1, 40, 1}, examples.batch()), gradients);
      CHECK(model->evaluate(examples.batch(), setup.weights).loss_sum == doctest::Approx(loss).epsilon(1e-5));
    }
  }
}

ModelSpec small_named(const std::string& name) {
  ModelSpec spec = model_named(name);
  spec.embedding = 6;
  spec.units = 5;
  spec.filters = 3;
  spec.width = 8;
  spec.depth = 1;
  spec.heads = 2;
  return spec;
}

TEST_CASE("networks: sequences and trees give every backend the cpu's gradients") {
  ExampleShape texts;
  texts.classes = 4;
  texts.vocabulary = 20;
  texts.steps = 7;
  texts.same_length = false;
  for (const char* const name : {"text_cnn", "text_lstm", "transformer"}) {
    Setup setup(small_named(name), texts);
    check_as_on_cpu(setup);
  }
  ExampleShape trees = texts;
  trees.trees = true;
  trees.labels = Labels::steps;
  Setup of_trees(small_named("tree_lstm"), trees);
  check_as_on_cpu(of_trees);
  ExampleShape characters = texts;
  characters.classes = characters.vocabulary;
  characters.same_length = true;
  characters.labels = Labels::steps;
  Setup of_characters(small_named("gpt"), characters);
  check_as_on_cpu(of_characters);
}

TEST_CASE("networks: images give every backend the cpu's gradients") {
  for (const char* const name : {"conv_autoencoder", "simpsons_cnn", "resnet20"}) {
    ModelSpec spec = small_named(name);
    spec.channels = {3, 4};
    Setup setup(spec, {3, 16, 16, 4});
    check_as_on_cpu(setup);
  }
}

}  // namespace
}  // namespace ballast
