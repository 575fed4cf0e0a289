// Evaluation of a range of examples.
#pragma once

#include <cstdint>
#include <span>

#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace ballast {

// Examples that are computed at once. Bounds memory; another number gives other last bits.
inline constexpr std::uint32_t kEvaluatedAtOnce = 100;

// Sums over examples [begin, end) of the split, read as they are (never augmented), in order. `weights` is a whole
// arena. Throws std::out_of_range for a range that the split does not have.
BatchResult evaluate_examples(Model& model, const Dataset& dataset, DataSplit split, std::uint32_t begin,
                              std::uint32_t end, const WeightArena& weights);

}  // namespace ballast
