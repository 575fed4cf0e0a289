// How a job's examples are cut into epochs, steps and slots. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/job/spec.h"

namespace ballast {

// Examples of the train and test split as the job counts them; known without reading the data.
struct SplitSizes {
  std::uint32_t train = 0;  // that an epoch trains on: without those held out
  std::uint32_t test = 0;
  std::uint32_t validation = 0;  // held out: they follow the `train` first ones in the train split
};

// mnist: 60000 and 10000, or as few as the job says; glyphs: 20000 and 4000, or as many as the job says;
// none: 1000000, or as many as the job says, and no test split; others: as many as the job says.
// data.validation_examples of the train split are held out; all of them at most.
SplitSizes split_sizes(const DataSpec& data);

struct StepPlan {
  std::uint64_t steps = 0;            // of the whole job
  std::uint64_t steps_per_epoch = 0;  // the last step of an epoch may hold fewer examples than `batch`
};

// At least one of epochs and max_steps is given; whichever comes first ends the job.
inline StepPlan plan_steps(const TrainingSpec& training, std::uint32_t train_examples) {
  StepPlan plan;
  plan.steps_per_epoch = (std::uint64_t{train_examples} + training.batch - 1) / training.batch;
  constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t by_epochs = training.epochs ? plan.steps_per_epoch * training.epochs.value_or(0) : kNoLimit;
  plan.steps = std::min(by_epochs, training.max_steps.value_or(kNoLimit));
  return plan;
}

// Examples in the batch of `step` (0-based over the whole job).
inline std::uint32_t examples_of_step(const TrainingSpec& training, std::uint32_t train_examples, std::uint64_t step) {
  const std::uint64_t per_epoch = (std::uint64_t{train_examples} + training.batch - 1) / training.batch;
  const std::uint64_t first = (step % per_epoch) * training.batch;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(training.batch, train_examples - first));
}

// Examples of one of its slots, as training.mode other than `local` cuts it: each has batch / slots of them, and what
// the last step of an epoch lacks is lacking at its end.
inline std::uint32_t examples_of_slot(const TrainingSpec& training, std::uint32_t train_examples, std::uint64_t step,
                                      std::uint32_t slot) {
  const std::uint64_t share = training.batch / training.slots;
  const std::uint64_t all = examples_of_step(training, train_examples, step);
  return static_cast<std::uint32_t>(std::min(share, all - std::min(all, slot * share)));
}

// Of a chunk: one for each slot in item mode.
constexpr std::uint32_t updates_per_step(const TrainingSpec& training) {
  return is_item_mode(training.mode) ? training.slots : 1;
}

}  // namespace ballast
