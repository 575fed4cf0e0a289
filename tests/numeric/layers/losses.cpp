#include <algorithm>
#include <cmath>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

// The probability of each class, from a row of logits.
std::vector<double> softmax(const Values& prediction, std::size_t row) {
  const std::size_t classes = prediction.shape.features();
  const auto first = prediction.values.begin() + static_cast<std::ptrdiff_t>(row * classes);
  std::vector<double> probabilities(first, first + static_cast<std::ptrdiff_t>(classes));
  double total = 0;
  for (double& value : probabilities) {
    value = std::exp(value);
    total += value;
  }
  std::ranges::for_each(probabilities, [&](double& value) { value /= total; });
  return probabilities;
}

double row_loss(const SoftmaxCrossEntropy& loss, const std::vector<double>& probabilities, std::size_t label) {
  const auto smoothing = static_cast<double>(loss.smoothing);
  double sum = 0;
  for (std::size_t j = 0; j < probabilities.size(); ++j) {
    const double target = (j == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(probabilities.size());
    const double weight = loss.class_weights.empty() ? 1 : static_cast<double>(loss.class_weights[j]);
    sum -= target == 0 ? 0 : target * weight * std::log(probabilities[j]);
  }
  return sum;
}

bool has_largest(const std::vector<double>& values, std::size_t place) {
  return std::ranges::max_element(values) - values.begin() == static_cast<std::ptrdiff_t>(place);
}

// Of losses of each output by itself; `rule` returns an output's loss.
template <typename Rule>
double mean_over_outputs(const Values& prediction, std::span<const float> targets, const Rule& rule) {
  const std::size_t outputs = prediction.values.size() / prediction.shape.n;
  double sum = 0;
  for (std::size_t i = 0; i < prediction.values.size(); ++i) {
    sum += rule(prediction.values[i], static_cast<double>(targets[i])) / static_cast<double>(outputs);
  }
  return sum;
}

std::vector<float> draw_weights(Draw& draw, std::uint32_t classes) {
  auto weights = draw.values<float>(classes);
  std::ranges::for_each(weights, [](float& weight) { weight = std::abs(weight); });
  return weights;
}

}  // namespace

LossReference loss_of(const SoftmaxCrossEntropy& loss, const Values& prediction, const ExampleShape& /*example*/,
                      const Batch& batch) {
  LossReference result;
  for (std::size_t n = 0; n < prediction.shape.n; ++n) {
    double sum = 0;
    std::size_t labelled = 0;
    bool is_correct = false;
    for (std::size_t step = 0; step < prediction.shape.steps; ++step) {
      const std::size_t row = n * prediction.shape.steps + step;
      const auto probabilities = softmax(prediction, row);
      result.predictions.insert(result.predictions.end(), probabilities.begin(), probabilities.end());
      if (batch.labels[row] >= 0) {
        const auto label = static_cast<std::size_t>(batch.labels[row]);
        sum += row_loss(loss, probabilities, label);
        is_correct = has_largest(probabilities, label);
        ++labelled;
      }
    }
    result.loss_sum += labelled == 0 ? 0 : sum / static_cast<double>(labelled);
    result.correct += is_correct ? 1 : 0;
  }
  return result;
}

LossReference loss_of(const SquaredError& loss, const Values& prediction, const ExampleShape& /*example*/,
                      const Batch& batch) {
  const auto rule = [](double y, double target) { return (y - target) * (y - target); };
  const double sum = mean_over_outputs(prediction, loss.of_input ? batch.features : batch.targets, rule);
  return {sum, 0, prediction.values};
}

LossReference loss_of(const LogisticLoss& /*loss*/, const Values& prediction, const ExampleShape& /*example*/,
                      const Batch& batch) {
  const auto sigmoid = [](double y) { return 1 / (1 + std::exp(-y)); };
  const auto rule = [&](double y, double target) { return -std::log(sigmoid(target == 1 ? y : -y)); };
  LossReference result{mean_over_outputs(prediction, batch.targets, rule), 0, prediction.values};
  std::ranges::for_each(result.predictions, [&](double& value) { value = sigmoid(value); });
  return result;
}

LossCase draw_softmax_cross_entropy(Draw& draw, std::uint32_t number) {
  const std::uint32_t n = draw.between(1, 9);
  const std::uint32_t classes = number % 6 == 5 ? draw.between(33, 700) : draw.between(2, 32);
  SoftmaxCrossEntropy loss;
  if (number % 4 >= 2) {
    loss.class_weights = draw_weights(draw, classes);
  }
  if (number % 2 == 1) {
    loss.smoothing = 0.1F;
  }
  LossCase drawn{.loss = loss, .prediction = {n, classes}, .example = {1, 8, 8, classes}};
  drawn.labels = draw.labels(n, classes);
  return drawn;
}

// A third of the steps have no label; nor does the first example, in some.
LossCase draw_softmax_of_steps(Draw& draw, std::uint32_t number) {
  LossCase drawn = draw_softmax_cross_entropy(draw, number);
  const std::uint32_t steps = draw.between(1, 7);
  drawn.prediction.steps = steps;
  drawn.example = {.channels = 1, .classes = drawn.prediction.c, .vocabulary = 5, .steps = steps};
  drawn.example.labels = Labels::steps;
  drawn.labels = draw.labels(drawn.prediction.rows(), drawn.prediction.c);
  for (std::size_t row = 0; row < drawn.labels.size(); ++row) {
    if (draw.between(0, 2) == 0 || (row < steps && number % 3 == 0 && drawn.prediction.n > 1)) {
      drawn.labels[row] = -1;
    }
  }
  return drawn;
}

LossCase draw_squared_error(Draw& draw, std::uint32_t number) {
  const std::uint32_t outputs = number == 0 ? 1 : draw.between(1, 30);
  LossCase drawn{.loss = SquaredError{}, .prediction = {draw.between(1, 9), outputs}, .example = {1, 8, 8, outputs}};
  drawn.example.labels = Labels::numbers;
  drawn.targets = draw.values<float>(drawn.prediction.elements());
  return drawn;
}

LossCase draw_squared_error_of_input(Draw& draw, std::uint32_t /*number*/) {
  const Shape shape{draw.between(1, 9), draw.between(1, 3), draw.between(1, 9), draw.between(1, 9)};
  LossCase drawn{.loss = SquaredError{true}, .prediction = shape, .example = {shape.c, shape.h, shape.w}};
  drawn.features = draw.values<float>(shape.elements());
  return drawn;
}

LossCase draw_logistic_loss(Draw& draw, std::uint32_t number) {
  const std::uint32_t outputs = number == 0 ? 1 : draw.between(1, 30);
  LossCase drawn{.loss = LogisticLoss{}, .prediction = {draw.between(1, 9), outputs}, .example = {1, 8, 8, outputs}};
  drawn.example.labels = Labels::several;
  drawn.targets = draw.whole_values<float>(drawn.prediction.elements(), 1);
  return drawn;
}

}  // namespace ballast::layers
