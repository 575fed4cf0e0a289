// What the lines of `ballast predict` hold, by what the model predicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/models/prediction_lines.h"
#include "common/job/job.h"

namespace ballast {

// The spans are the example's own part of a batch; what examples of the kind do not have is empty.
struct PredictedExample {
  bool labelled = false;
  std::span<const std::int32_t> labels = {};  // one, or one of each step, -1 where there is none
  std::span<const float> targets = {};
  std::span<const float> predictions = {};
};

// The lines of an example by what the model predicts. Immutable.
class PredictionKind {
 public:
  // Values: one of each column.
  using TakeLine = std::function<void(const std::vector<PredictionValue>& values)>;

  virtual ~PredictionKind() = default;
  // Predictions of one example whose sequence is padded to `steps`.
  [[nodiscard]] virtual std::size_t predictions(std::uint32_t steps) const = 0;
  [[nodiscard]] virtual std::vector<PredictionColumn> columns() const = 0;
  // Calls `take` for each line of the example, in order.
  virtual void lines(const PredictedExample& example, const TakeLine& take) const = 0;
};

// The job's model computes a network.
std::unique_ptr<PredictionKind> prediction_kind(const Job& job);

// What predicted numbers are, where they are not the data's own: a sentence for a user; empty where they are.
std::string meaning_of_numbers(const Job& job);

// What the errors of a job that predicts numbers are measured in, where they are not the data's own units; else empty.
std::string meaning_of_errors(const Job& job);

}  // namespace ballast
