// Trust ratios of a job's tensors (lars, lamb): which sums of squares make which, and what they are.
#pragma once

#include <cstdint>
#include <vector>

#include "common/arena/arena.h"
#include "common/job/descents.h"

namespace ballast {

// By chunk id, for each sum that the chunk's owner measures, which of all sums it is a part of: for each piece
// (pieces_of) of a parameter that has a ratio two, 2 p of the weights and 2 p + 1 of the update, p being the
// parameter's index. Chunks that are not descended (state, statistics) have none.
struct TrustNorms {
  std::vector<std::vector<std::uint32_t>> of_chunk;  // empty: the optimizer has no trust ratios
  std::uint32_t count = 0;                           // sums: two for each parameter, with a ratio or without
};
TrustNorms trust_norms(const Descents& descents, const Arena& arena);

// Whether the parameter's updates have a ratio of their own.
inline bool has_trust_ratio(const Descent& descent) {
  return has_trust_ratios(descent.optimizer.kind) && descent.optimizer.trust_ratio;
}

// Whether the sums are of updates that depend on a step's bias corrections (lamb), not on the gradient alone.
inline bool measures_updates(const TrainingSpec& training) { return training.optimizer.name == "lamb"; }

// By parameter its ratio, 1 where it has none, from TrustNorms::count sums. Pure.
std::vector<float> trust_ratios(const Descents& descents, const std::vector<double>& sums);

}  // namespace ballast
