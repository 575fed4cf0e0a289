#include "worker/training/metric_counter.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace ballast;

namespace {

ExampleShape shape_of(std::uint32_t outputs, Labels labels) {
  ExampleShape shape{1, 1, 2, outputs};
  shape.labels = labels;
  return shape;
}

}  // namespace

TEST_CASE("an answer is right in the class with the highest probability, and among five in the five highest") {
  MetricCounter counter({.top5 = true, .classes = 7}, shape_of(7, Labels::classes));
  const std::vector<double> predictions = {0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05,  //
                                           0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05,  //
                                           0.1, 0.1, 0.1, 0.1, 0.1, 0.1,  0.4};
  const std::vector<std::int32_t> labels = {0, 5, 4};
  counter.add(predictions, {.count = 3, .labels = labels});
  const auto& counts = counter.counted().counts;
  CHECK(counts[MetricCounts::kAnswers] == 3);
  CHECK(counts[MetricCounts::kAmongFive] == 1);  // of equals the lower classes come first: label 4 is the sixth
  CHECK(counts[2] == 1);                         // class 0: right, answered, labelled
  CHECK(counts[3] == 2);
  CHECK(counts[4] == 1);
  CHECK(counts[2 + 3 * 5 + 2] == 1);
  CHECK(counts[2 + 3 * 6 + 1] == 1);
}

TEST_CASE("steps without a label are no answers, and each label's probability counts") {
  MetricCounter counter({.classes = 2, .likelihood = true}, shape_of(2, Labels::steps));
  const std::vector<double> predictions = {0.5, 0.5, 0.25, 0.75, 1, 0, 0, 1};
  const std::vector<std::int32_t> labels = {0, 1, -1, 0};
  counter.add(predictions, {.count = 2, .labels = labels, .steps = 2});
  CHECK(counter.counted().counts[MetricCounts::kAnswers] == 3);
  const auto least = -std::log(std::numeric_limits<double>::min());
  CHECK(counter.counted().sums[MetricCounts::kLikelihood] ==
        doctest::Approx(std::log(2.0) + std::log(4.0 / 3) + least));
}

TEST_CASE("of two classes the second one's probability is the score") {
  MetricCounter counter({.scores = true}, shape_of(2, Labels::classes));
  const std::vector<double> predictions = {0.9, 0.1, 0.2, 0.8};
  const std::vector<std::int32_t> labels = {0, 1};
  counter.add(predictions, {.count = 2, .labels = labels});
  const auto& counts = counter.counted().counts;
  CHECK(counts[2 + 2 * score_bin(0.1)] == 1);
  CHECK(counts[2 + 2 * score_bin(0.8) + 1] == 1);
}

TEST_CASE("several outputs are answers each, and an example is right with all of them") {
  MetricCounter counter({.classes = 2}, shape_of(2, Labels::several));
  const std::vector<double> predictions = {0.9, 0.6, 0.9, 0.4};
  const std::vector<float> targets = {1, 0, 1, 0};
  counter.add(predictions, {.count = 2, .targets = targets});
  const std::vector<std::uint64_t> expected = {4, 0, 2, 2, 2, 0, 1, 0};
  CHECK(counter.counted().counts == expected);
  CHECK(counter.all_right() == 1);
}

TEST_CASE("examples of more outputs than are counted one by one are right or wrong all the same") {
  constexpr std::uint32_t kOutputs = kMostCountedClasses + 1;
  MetricCounter counter({}, shape_of(kOutputs, Labels::several));
  CHECK(counter.counts());
  std::vector<double> predictions(std::size_t{2} * kOutputs, 0.1);
  const std::vector<float> targets(std::size_t{2} * kOutputs, 0);
  predictions.back() = 0.9;
  counter.add(predictions, {.count = 2, .targets = targets});
  CHECK(counter.all_right() == 1);
  CHECK(counter.counted() == MetricCounts{});
}

TEST_CASE("classes of which nothing is told are not counted") {
  CHECK_FALSE(MetricCounter({}, shape_of(2, Labels::classes)).counts());
  CHECK(MetricCounter({.top5 = true}, shape_of(6, Labels::classes)).counts());
}

TEST_CASE("numbers have errors, an autoencoder's from its input, whatever its labels") {
  const std::vector<double> predictions = {1, 3};
  const std::vector<float> targets = {1.5F, 1};
  MetricCounter numbers({.errors = true}, shape_of(2, Labels::numbers));
  numbers.add(predictions, {.count = 1, .targets = targets});
  const std::vector<float> own_targets = {7};
  MetricCounter reconstruction({.errors = true, .of_input = true}, shape_of(1, Labels::numbers));
  reconstruction.add(predictions, {.count = 1, .features = targets, .targets = own_targets});
  for (const auto* counter : {&numbers, &reconstruction}) {
    CHECK(counter->counted().counts[MetricCounts::kAnswers] == 2);
    CHECK(counter->counted().sums[MetricCounts::kSquared] == 4.25);
    CHECK(counter->counted().sums[MetricCounts::kAbsolute] == 2.5);
  }
  numbers.add(predictions, {.count = 1, .targets = targets});
  CHECK(numbers.squared_errors() == std::vector<double>{0.5, 8});  // of each output
  CHECK(reconstruction.squared_errors().empty());
}

TEST_CASE("a prediction that is no number is no answer among five") {
  MetricCounter counter({.top5 = true}, shape_of(6, Labels::classes));
  const std::vector<double> predictions(6, std::nan(""));
  const std::vector<std::int32_t> labels = {0};
  counter.add(predictions, {.count = 1, .labels = labels});
  CHECK(counter.counted().counts[MetricCounts::kAmongFive] == 0);
}

TEST_CASE("counts of any division of the examples are the same") {
  const MetricRules rules{.top5 = true, .classes = 6};
  const auto shape = shape_of(6, Labels::classes);
  std::vector<double> predictions;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 6; ++j) {
      predictions.push_back(0.1 * ((7 * i + 5 * j) % 11));
    }
    labels.push_back(i % 6);
  }
  MetricCounter whole(rules, shape);
  whole.add(predictions, {.count = 40, .labels = labels});
  MetricCounter parts(rules, shape);
  for (std::uint32_t begin = 0; begin < 40; begin += 8) {
    parts.add(std::span<const double>(predictions).subspan(6 * begin, 48),
              {.count = 8, .labels = std::span<const std::int32_t>(labels).subspan(begin, 8)});
  }
  CHECK(whole.counted() == parts.counted());
}
