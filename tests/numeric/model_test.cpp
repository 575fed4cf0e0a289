// What the worker's loop relies on in every model: the same bytes whatever ran before, readiness, empty slots.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tests/numeric/backends.h"
#include "tests/numeric/setup.h"

namespace ballast {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::unique_ptr<Setup>> all_setups() {
  std::vector<std::unique_ptr<Setup>> setups;
  setups.push_back(std::make_unique<Setup>(small_mlp(), kImages));
  setups.push_back(std::make_unique<Setup>(model_named("lenet5"), kImages));
  setups.push_back(std::make_unique<Setup>(small_emulated("hashed"), kImages));
  setups.push_back(std::make_unique<Setup>(small_emulated("fixed"), kImages));
  return setups;
}

bool same_bytes(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

template <typename Check>
void for_each_model(const Check& check) {
  for (const NamedBackend& named : backends_under_test()) {
    CAPTURE(named.name);
    for (const auto& setup : all_setups()) {
      CAPTURE(setup->spec.name);
      CAPTURE(setup->spec.gradient);
      setup->backend = named.make;
      check(*setup);
    }
  }
}

TEST_CASE("models: the same bytes again, whatever was computed between") {
  for_each_model([](const Setup& setup) {
    const Examples examples = draw_examples(setup.shape, 16, 1);
    const Examples others = draw_examples(setup.shape, 11, 2);
    const auto model = setup.make();
    const auto first = setup.gradients(*model, {3, 2, 128, 1}, examples.batch());
    setup.gradients(*model, {3, 1, 128, 1}, others.batch());
    model->evaluate(others.batch(), setup.weights);
    setup.gradients(*model, {9, 0, 128, 1}, draw_examples(setup.shape, 16, 3).batch());
    CHECK(same_bytes(first, setup.gradients(*model, {3, 2, 128, 1}, examples.batch())));
    CHECK(same_bytes(first, setup.gradients(*setup.make(), {3, 2, 128, 1}, examples.batch())));
  });
}

TEST_CASE("models: the same bytes wherever the arenas lie") {
  for_each_model([](const Setup& setup) {
    const Examples examples = draw_examples(setup.shape, 16, 1);
    const auto model = setup.make();
    const auto expected = setup.gradients(*model, {0, 0, 16, 1}, examples.batch());
    for (const std::size_t shift : {1U, 3U, 8U}) {
      std::vector<float> weights(setup.arena.elements + shift);
      std::vector<float> gradients(setup.arena.elements + shift);
      std::ranges::copy(setup.weights, weights.begin() + static_cast<std::ptrdiff_t>(shift));
      const auto target = std::span(gradients).subspan(shift);
      model->train({0, 0, 16, 1}, examples.batch(), std::span(weights).subspan(shift), target, [](std::size_t) {});
      CHECK(same_bytes(expected, target));
    }
  });
}

TEST_CASE("models: every gradient is overwritten, nothing else is touched") {
  for_each_model([](const Setup& setup) {
    const Examples examples = draw_examples(setup.shape, 16, 1);
    for (const std::uint32_t count : {16U, 0U}) {
      CAPTURE(count);
      const Batch batch = count == 0 ? Batch{} : examples.batch();
      const auto model = setup.make();
      const auto gradients = setup.gradients(*model, {0, 0, 16, 1}, batch, kNan);
      std::vector<bool> owned(setup.arena.elements, false);
      for (const auto& [offset, elements] : setup.arena.extents) {
        std::fill_n(owned.begin() + static_cast<std::ptrdiff_t>(offset), elements, true);
      }
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        wrong += std::isnan(gradients[i]) == owned[i] ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("models: each parameter becomes ready once, when it is final, last layers first") {
  for_each_model([](const Setup& setup) {
    const Examples examples = draw_examples(setup.shape, 16, 1);
    // Pinned as the worker's are: copies to it may still be under way when the call that began them returns.
    std::vector<float> gradients(setup.arena.elements);
    const auto model = setup.make();
    model->pin(gradients);
    const auto expected = setup.gradients(*model, {0, 0, 16, 1}, examples.batch());
    for (const bool empty : {false, true}) {
      std::ranges::fill(gradients, kNan);
      std::vector<std::size_t> order;
      model->train({0, 0, 16, 1}, empty ? Batch{} : examples.batch(), setup.weights, gradients, [&](std::size_t i) {
        order.push_back(i);
        const auto [offset, elements] = setup.arena.extents[i];
        const auto now = std::span(gradients).subspan(offset, elements);
        const std::vector<float> final_value(elements);
        CHECK(same_bytes(now, empty ? std::span(final_value) : std::span(expected).subspan(offset, elements)));
      });
      std::vector<std::size_t> reversed(setup.arena.parameters.size());
      std::iota(reversed.rbegin(), reversed.rend(), std::size_t{0});
      CHECK(order == reversed);
    }
  });
}

TEST_CASE("models: an empty slot counts nothing, and +0.0 is its gradient") {
  for_each_model([](const Setup& setup) {
    const auto model = setup.make();
    std::vector<float> gradients(setup.arena.elements, 0);
    for (const auto& [offset, elements] : setup.arena.extents) {
      std::fill_n(gradients.begin() + static_cast<std::ptrdiff_t>(offset), elements, -1.0F);
    }
    const BatchResult result = model->train({0, 0, 0, 1}, {}, setup.weights, gradients, [](std::size_t) {});
    CHECK(same_bytes(gradients, std::vector<float>(setup.arena.elements)));
    CHECK(result.loss_sum == 0);
    CHECK(result.examples == 0);
    CHECK(model->evaluate({}, setup.weights).examples == 0);
  });
}

TEST_CASE("models: evaluation sees the loss that training sees") {
  for_each_model([](const Setup& setup) {
    const Examples examples = draw_examples(setup.shape, 9, 1);
    const auto model = setup.make();
    std::vector<float> gradients(setup.arena.elements);
    const BatchResult trained = model->train({0, 0, 9, 1}, examples.batch(), setup.weights, gradients, [](auto) {});
    const BatchResult evaluated = model->evaluate(examples.batch(), setup.weights);
    CHECK(trained.loss_sum == evaluated.loss_sum);
    CHECK(trained.correct == evaluated.correct);
    CHECK(evaluated.examples == 9);
  });
}

// More batch sizes than a model keeps prepared, twice over.
TEST_CASE("models: probabilities are those that the loss is made of") {
  for_each_model([](const Setup& setup) {
    if (setup.spec.name == "emulated") {
      return;
    }
    const Examples examples = draw_examples(setup.shape, 13, 5);
    const auto model = setup.make();
    const auto evaluated = model->evaluate(examples.batch(), setup.weights);
    std::vector<float> probabilities(13 * 10, kNan);
    model->predict({13, examples.features, {}}, setup.weights, probabilities);
    double loss = 0;
    std::uint32_t correct = 0;
    for (std::size_t i = 0; i < 13; ++i) {
      const auto row = std::span(probabilities).subspan(i * 10, 10);
      CHECK(std::accumulate(row.begin(), row.end(), 0.0) == doctest::Approx(1).epsilon(1e-6));
      loss -= std::log(static_cast<double>(row[static_cast<std::size_t>(examples.labels[i])]));
      correct += std::ranges::max_element(row) - row.begin() == examples.labels[i] ? 1 : 0;
    }
    CHECK(loss == doctest::Approx(evaluated.loss_sum).epsilon(1e-6));
    CHECK(correct == evaluated.correct);
    CHECK_THROWS_WITH_AS(model->predict({13, examples.features, {}}, setup.weights, std::span(probabilities).first(9)),
                         doctest::Contains("130 are to be written"), std::invalid_argument);
  });
}

TEST_CASE("models: the emulated model predicts nothing") {
  const Setup setup(small_emulated("hashed"), kImages);
  const Examples examples = draw_examples(setup.shape, 2, 5);
  std::vector<float> probabilities(20);
  CHECK_THROWS_WITH_AS(setup.make()->predict(examples.batch(), setup.weights, probabilities),
                       doctest::Contains("no classes"), std::invalid_argument);
}

TEST_CASE("models: any number of batch sizes") {
  const Setup setup(small_mlp(), kImages);
  const auto model = setup.make();
  std::vector<double> losses;
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::uint32_t count = 1; count <= 20; ++count) {
      const double loss = model->evaluate(draw_examples(setup.shape, count, count).batch(), setup.weights).loss_sum;
      if (round == 0) {
        losses.push_back(loss);
      } else {
        CHECK(loss == losses[count - 1]);
      }
    }
  }
}

void check_nan_shows(const NamedBackend& named) {
  CAPTURE(named.name);
  for (const char* parameter : {"conv1.weight", "conv2.bias", "fc2.weight"}) {
    CAPTURE(parameter);
    Setup setup(model_named("lenet5"), kImages);
    setup.backend = named.make;
    const auto found = std::ranges::find(setup.arena.parameters, parameter, &Parameter::name);
    setup.weights[setup.arena.extents[static_cast<std::size_t>(found - setup.arena.parameters.begin())].offset] = kNan;
    const Examples examples = draw_examples(setup.shape, 4, 1);
    const auto model = setup.make();
    CHECK(std::isnan(model->evaluate(examples.batch(), setup.weights).loss_sum));
    const auto gradients = setup.gradients(*model, {0, 0, 4, 1}, examples.batch());
    CHECK(std::ranges::any_of(gradients, [](float value) { return std::isnan(value); }));
  }
}

TEST_CASE("models: a weight that is not a number shows in the loss and in the gradients") {
  std::ranges::for_each(backends_under_test(), check_nan_shows);
}

TEST_CASE("models: batches that do not fit are refused") {
  const Setup setup(small_mlp(), kImages);
  const auto model = setup.make();
  Examples examples = draw_examples(setup.shape, 4, 1);
  std::vector<float> gradients(setup.arena.elements);
  const auto train = [&](std::uint32_t step_examples, std::span<const float> weights) {
    model->train({0, 0, step_examples, 1}, examples.batch(), weights, gradients, [](std::size_t) {});
  };
  CHECK_THROWS_AS(train(3, setup.weights), std::invalid_argument);
  CHECK_THROWS_AS(train(4, std::span(setup.weights).first(100)), std::invalid_argument);
  examples.labels[1] = 10;
  CHECK_THROWS_WITH_AS(train(4, setup.weights), doctest::Contains("label 10"), std::invalid_argument);
  examples.labels[1] = 1;
  examples.features.pop_back();
  CHECK_THROWS_AS(train(4, setup.weights), std::invalid_argument);
}

TEST_CASE("models: what cannot be made is refused") {
  const Arena mlp = lay_out(declare_parameters(small_mlp(), kImages));
  CHECK_THROWS_WITH_AS(make_model(model_named("vgg"), kImages, mlp, on_cpu(1)), doctest::Contains("'vgg'"),
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_model(model_named("lenet5"), kImages, mlp, on_cpu(1)), doctest::Contains("conv1.weight"),
                       std::invalid_argument);
  ModelSpec wider = small_mlp();
  wider.hidden = {33, 16};
  CHECK_THROWS_WITH_AS(make_model(wider, kImages, mlp, on_cpu(1)), doctest::Contains("32 x 784"),
                       std::invalid_argument);
  CHECK_THROWS_AS(make_model(small_mlp(), kImages, mlp, on_cpu(0)), std::invalid_argument);
}

}  // namespace
}  // namespace ballast
