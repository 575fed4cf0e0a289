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

}  // namespace
}  // namespace ballast
