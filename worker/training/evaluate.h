// Evaluation of a range of examples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "worker/data/dataset.h"
#include "worker/models/model.h"
#include "worker/training/metric_counter.h"

namespace ballast {

// Examples that are computed at once. Bounds memory; another number gives other last bits.
inline constexpr std::uint32_t kEvaluatedAtOnce = 100;

struct EvaluationSums {
  double loss_sum = 0;
  std::uint64_t correct = 0;  // of several outputs: examples of which all are right
  std::uint32_t examples = 0;
  std::uint32_t left_out = 0;               // of which the data set tells a fault; not among `examples`
  MetricCounts counted;                     // as the rules say
  std::vector<double> squared_errors = {};  // of numbers: the sum over examples, of each output
};

// Over examples [begin, end) of the split, read as they are (never augmented), in order. Those of which the data set
// tells a fault (DatasetUse::asking) are left out. `weights` is a whole arena.
// Throws std::out_of_range for a range that the split does not have.
EvaluationSums evaluate_examples(Model& model, const Dataset& dataset, DataSplit split, std::uint32_t begin,
                                 std::uint32_t end, const WeightArena& weights, MetricCounter counter);

}  // namespace ballast
