// Networks learn: each class is a drawn pattern, each example its class's pattern with as much noise.
#include <doctest/doctest.h>

#include "common/numeric/optimizer.h"
#include "tests/numeric/backends.h"
#include "tests/numeric/setup.h"

namespace ballast {
namespace {

Examples noisy_patterns(const ExampleShape& shape, std::uint32_t count, std::uint64_t seed) {
  Draw pattern_draw(1);
  const auto patterns = pattern_draw.values<float>(shape.classes * shape.features());
  Examples examples = draw_examples(shape, count, seed);
  for (std::size_t i = 0; i < examples.features.size(); ++i) {
    const auto label = static_cast<std::size_t>(examples.labels[i / shape.features()]);
    examples.features[i] += patterns[label * shape.features() + i % shape.features()];
  }
  return examples;
}

void check_learns(const ModelSpec& spec, const NamedBackend& named) {
  CAPTURE(named.name);
  Setup setup(spec, kImages);
  setup.backend = named.make;
  const auto model = setup.make();
  const Examples test = noisy_patterns(kImages, 200, 1000);
  const BatchResult before = model->evaluate(test.batch(), setup.weights);
  std::vector<float> gradients(setup.arena.elements);
  for (std::uint64_t step = 0; step < 60; ++step) {
    const Examples batch = noisy_patterns(kImages, 32, 2000 + step);
    model->train({step, 0, 32, 1}, batch.batch(), setup.weights, gradients, [](std::size_t) {});
    std::vector<float> next(setup.weights.size());
    optimizer_step({}, {0.05F}, 1.0F, setup.weights, gradients, {}, next);
    setup.weights.swap(next);
  }
  const BatchResult after = model->evaluate(test.batch(), setup.weights);
  CHECK(before.correct < 60);
  CHECK(after.correct > 190);
  CHECK(after.loss_sum < 0.2 * before.loss_sum);
}

TEST_CASE("training: mlp learns noisy patterns") {
  for (const NamedBackend& named : backends_under_test()) {
    check_learns(small_mlp(), named);
  }
}

TEST_CASE("training: lenet5 learns noisy patterns") {
  for (const NamedBackend& named : backends_under_test()) {
    check_learns(model_named("lenet5"), named);
  }
}

}  // namespace
}  // namespace ballast
