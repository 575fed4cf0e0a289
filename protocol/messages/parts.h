// What several messages hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// What a contribution is of. The order is that in which contributions are wanted: older steps first, then the earliest
// layers' chunks, those with the smallest ids, which the next forward pass needs first.
struct Work {
  Step step = 0;
  ChunkId chunk = 0;
  Node node;
  auto operator<=>(const Work&) const = default;
};

// Where a worker's last finished step went; microseconds. Travels with every contribution and heartbeat. No moment
// counts twice, but for a push that goes on while the next step is computed.
struct PhaseTimes {
  std::uint64_t data_wait = 0;  // waiting for examples
  // Waiting for weights and for nothing else: from choosing the step, or from the last receipt of the one before if
  // that came later, until every chunk of its version was there.
  std::uint64_t pull = 0;
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  std::uint64_t push = 0;  // from the end of compute until nothing of the step was without a receipt
  bool operator==(const PhaseTimes&) const = default;
};

// What a step's update needs beside the gradient; computed once, by the lead, so that no two processors' arithmetic
// need agree.
struct StepFactors {
  float learning_rate = 0;
  // learning_rate, divided by 1 - beta1^t where the optimizer corrects its first moment; lamb: 1 / (1 - beta1^t)
  float step_size = 0;
  float second_moment_root = 1;  // sqrt(1 - beta2^t) where it corrects its second
  bool skip = false;             // the step leaves all weights and all state as they are
  // Of the gradient, or the trust ratios of the update: none (1), one for all of it, or one for each parameter.
  std::vector<float> scales;
  bool operator==(const StepFactors&) const = default;
};

// Of the factors that an update will have, if its step is not skipped, those that a lane needs to take the update's
// norms before the step is decided.
struct Prospect {
  float step_size = 0;
  float second_moment_root = 1;
  bool operator==(const Prospect&) const = default;
};
inline Prospect prospect_of(const StepFactors& factors) { return {factors.step_size, factors.second_moment_root}; }

// A property of the job's bits that workers or shards tell, and who told it first.
struct Told {
  std::string value;
  std::string by;  // "worker a", "shard 1", or the key of the job file that says it
  bool operator==(const Told&) const = default;
};

// What the decision on a step needs to know of one covered chunk.
struct ChunkMeasure {
  ChunkId chunk = 0;
  Step step = 0;
  // Of the gradient's squares: of the chunk, or of each parameter's piece of it, in order. With trust ratios two for
  // each piece of a parameter that has one: of the weights' squares, and of the prospective update's.
  std::vector<double> sums;
  bool finite = true;           // the chunk's gradient has no infinity and no NaN
  std::uint32_t parameter = 0;  // if not finite: the parameter of the first such element, by its index in the model
  Slot slot = kNoSlot;  // if not finite: the first slot to blame; kNoSlot: only the sum over the slots overflows
  bool operator==(const ChunkMeasure&) const = default;
};

// The root of the statistics chunk: sums over the step's examples.
struct StepStatistics {
  Step step = 0;
  float loss = 0;  // the mean over the step's examples
  float correct = 0;
  float examples = 0;
  bool operator==(const StepStatistics&) const = default;
};

}  // namespace ballast
