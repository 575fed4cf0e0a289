// Counts what a job's metrics are made of, over predictions and their labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/network/shape.h"
#include "protocol/metrics.h"
#include "worker/compute/batch.h"

namespace ballast {

// Of rows and outputs as LossOperation::predictions has them. Counts are the same whatever the order of batches; sums
// are added in the order of the calls. Not thread-safe.
class MetricCounter {
 public:
  MetricCounter(const MetricRules& rules, const ExampleShape& shape);

  // Whether there is anything to be counted. Labels::several are, for all_right, where the rules count nothing.
  [[nodiscard]] bool counts() const { return rules_.counts() > 0 || shape_.labels == Labels::several; }
  // `batch`: with its labels.
  void add(std::span<const double> predictions, const Batch& batch);

  [[nodiscard]] const MetricCounts& counted() const { return counted_; }
  // Of numbers: the sum of the squared errors of each output, over the examples.
  [[nodiscard]] const std::vector<double>& squared_errors() const { return squared_errors_; }
  // Examples of Labels::several all of whose outputs are on their target's side of a half.
  [[nodiscard]] std::uint64_t all_right() const { return all_right_; }

 private:
  void add_classes(std::span<const double> predictions, const Batch& batch);
  void add_class(std::span<const double> probabilities, std::size_t label);
  void add_several(std::span<const double> predictions, const Batch& batch);
  void add_numbers(std::span<const double> predictions, std::span<const float> targets);
  void add_answer(std::size_t answered, std::size_t labelled);
  void add_score(double score, bool yes);

  MetricRules rules_;
  ExampleShape shape_;
  MetricCounts counted_;
  std::vector<double> squared_errors_;
  std::uint64_t all_right_ = 0;
};

}  // namespace ballast
