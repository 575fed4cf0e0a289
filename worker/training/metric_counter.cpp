#include "worker/training/metric_counter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ballast {

namespace {

constexpr std::ptrdiff_t kFive = 5;

// The likeliest class, the lowest among equals.
std::size_t answer_of(std::span<const double> probabilities) {
  return static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
}

// How many classes are likelier than the label; of equals the lower ones are.
std::ptrdiff_t before(std::span<const double> probabilities, std::size_t label) {
  const auto own = probabilities[label];
  return std::ranges::count_if(probabilities, [&](const double& other) {
    const auto place = static_cast<std::size_t>(&other - probabilities.data());
    return other > own || (other == own && place < label);
  });
}

}  // namespace

MetricCounter::MetricCounter(const MetricRules& rules, const ExampleShape& shape)
    : rules_(rules),
      shape_(shape),
      counted_{std::vector<std::uint64_t>(rules.counts()), std::vector<double>(rules.sums())},
      squared_errors_(rules.errors && !rules.of_input ? shape.classes : 0) {}

void MetricCounter::add(std::span<const double> predictions, const Batch& batch) {
  if (predictions.empty()) {
    return;
  }
  if (rules_.errors) {
    add_numbers(predictions, rules_.of_input ? batch.features : batch.targets);
  } else if (shape_.labels == Labels::several) {
    add_several(predictions, batch);
  } else if (rules_.counts() > 0) {
    add_classes(predictions, batch);
  }
}

void MetricCounter::add_classes(std::span<const double> predictions, const Batch& batch) {
  for (std::size_t row = 0; row < batch.labels.size(); ++row) {
    if (batch.labels[row] >= 0) {
      add_class(predictions.subspan(row * shape_.classes, shape_.classes), static_cast<std::size_t>(batch.labels[row]));
    }
  }
}

void MetricCounter::add_class(std::span<const double> probabilities, std::size_t label) {
  ++counted_.counts[MetricCounts::kAnswers];
  if (rules_.top5 && !std::isnan(probabilities[label]) && before(probabilities, label) < kFive) {
    ++counted_.counts[MetricCounts::kAmongFive];
  }
  if (rules_.classes > 0) {
    add_answer(answer_of(probabilities), label);
  }
  if (rules_.scores) {
    add_score(probabilities[1], label == 1);
  }
  if (rules_.likelihood) {
    counted_.sums[MetricCounts::kLikelihood] -=
        std::log(std::max(probabilities[label], std::numeric_limits<double>::min()));
  }
}

void MetricCounter::add_several(std::span<const double> predictions, const Batch& batch) {
  for (std::size_t example = 0; example < batch.count; ++example) {
    bool right = true;
    for (std::size_t output = 0; output < shape_.classes; ++output) {
      const auto place = example * shape_.classes + output;
      const bool answered = predictions[place] > 0.5;
      const bool labelled = batch.targets[place] > 0.5F;
      right = right && answered == labelled;
      if (rules_.counts() > 0) {
        ++counted_.counts[MetricCounts::kAnswers];
      }
      if (rules_.classes > 0) {
        auto* const own = &counted_.counts[MetricCounts::kClasses + 3 * output];
        own[0] += answered && labelled ? 1 : 0;
        own[1] += answered ? 1 : 0;
        own[2] += labelled ? 1 : 0;
      }
      if (rules_.scores) {
        add_score(predictions[place], labelled);
      }
    }
    all_right_ += right ? 1 : 0;
  }
}

void MetricCounter::add_numbers(std::span<const double> predictions, std::span<const float> targets) {
  for (std::size_t place = 0; place < predictions.size(); ++place) {
    const double error = predictions[place] - static_cast<double>(targets[place]);
    ++counted_.counts[MetricCounts::kAnswers];
    counted_.sums[MetricCounts::kSquared] += error * error;
    counted_.sums[MetricCounts::kAbsolute] += std::abs(error);
    if (!squared_errors_.empty()) {
      squared_errors_[place % squared_errors_.size()] += error * error;
    }
  }
}

void MetricCounter::add_answer(std::size_t answered, std::size_t labelled) {
  auto* const classes = &counted_.counts[MetricCounts::kClasses];
  ++classes[3 * answered + 1];
  ++classes[3 * labelled + 2];
  classes[3 * labelled] += answered == labelled ? 1 : 0;
}

void MetricCounter::add_score(double score, bool yes) {
  const auto bins = counted_.counts.size() - std::size_t{2} * kScoreBins;
  ++counted_.counts[bins + 2 * std::size_t{score_bin(score)} + (yes ? 1 : 0)];
}

}  // namespace ballast
