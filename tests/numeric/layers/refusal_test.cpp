// What the cpu refuses of a batch, in words that name it.
#include <doctest/doctest.h>

#include <stdexcept>

#include "common/network/infer.h"
#include "tests/numeric/backends.h"

namespace ballast::layers {
namespace {

// Prepares a layer for `x` and runs it forward on a batch.
void run_forward(const Layer& layer, const Shape& x, Batch batch) {
  const auto backend = make_cpu_backend(1);
  const auto input = backend->input(x);
  std::vector<ParameterPlace> places;
  std::size_t end = 0;
  for (const Parameter& parameter : parameters_of(layer, std::vector{x})) {
    places.push_back({{end, parameter.elements()}});
    end += parameter.elements();
  }
  Tensor* const inputs[] = {input.get()};
  const Prepared prepared = backend->prepare({layer, inputs, places});
  const std::vector<float> weights(end);
  batch.count = x.n;
  batch.steps = x.steps;
  const Pass pass{batch};
  backend->bind_weights(weights);
  backend->begin(pass);
  backend->write(*input, std::vector<float>(x.elements()));
  prepared.operation->forward();
}

void run_loss(const Loss& loss, const Shape& prediction, Labels labels, const Batch& batch) {
  const auto backend = make_cpu_backend(1);
  const auto input = backend->input(prediction, true);
  ExampleShape example{1, 2, 2, prediction.c};
  example.labels = labels;
  const auto prepared = backend->prepare_loss(loss, *input, example);
  const Pass pass{batch};
  backend->begin(pass);
  backend->write(*input, std::vector<float>(prediction.elements()));
  prepared->forward();
}

TEST_CASE("layers: tokens outside the vocabulary are refused") {
  for (const std::int32_t wrong : {-1, 5}) {
    const std::vector<std::int32_t> tokens = {0, wrong, 4};
    CHECK_THROWS_WITH_AS(run_forward(Embedding{5, 3}, {1, 1, 1, 1, 3}, {.tokens = tokens}),
                         doctest::Contains(("token " + std::to_string(wrong)).c_str()), std::invalid_argument);
  }
}

TEST_CASE("layers: what is no tree is refused") {
  const Shape x{1, 2, 1, 1, 3};
  const auto run = [&](const std::vector<std::int32_t>& children) {
    run_forward(TreeLstm{4}, x, {.children = children});
  };
  CHECK_NOTHROW(run({-1, -1, -1, -1, 0, 1}));
  CHECK_THROWS_WITH_AS(run({}), doctest::Contains("trees"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(run({-1, -1, -1, -1, 0, 2}), doctest::Contains("node 2"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(run({-1, -1, 0, -1, 0, 1}), doctest::Contains("node 1"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(run({-1, -1, -1, -1, 1, 1}), doctest::Contains("child of two"), std::invalid_argument);
}

TEST_CASE("losses: labels and targets that cannot be are refused") {
  const std::vector<std::int32_t> unlabelled = {1, -1};
  const Shape two{2, 3};
  CHECK_NOTHROW(run_loss(SoftmaxCrossEntropy{}, {1, 3, 1, 1, 2}, Labels::steps, {.labels = unlabelled, .steps = 2}));
  CHECK_THROWS_WITH_AS(run_loss(SoftmaxCrossEntropy{}, two, Labels::classes, {.labels = unlabelled}),
                       doctest::Contains("label -1"), std::invalid_argument);
  const std::vector<float> targets = {0, 1, 0, 1, 0.5F, 1};
  CHECK_NOTHROW(run_loss(SquaredError{}, two, Labels::numbers, {.targets = targets}));
  CHECK_THROWS_WITH_AS(run_loss(LogisticLoss{}, two, Labels::several, {.targets = targets}),
                       doctest::Contains("example 1 of the batch has 0.5"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(run_loss(SquaredError{}, {3, 3}, Labels::numbers, {.targets = targets}),
                       doctest::Contains("6 targets"), std::invalid_argument);
}

}  // namespace
}  // namespace ballast::layers
