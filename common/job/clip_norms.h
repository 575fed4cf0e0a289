// What is clipped, and clipping by norm: which sums of squares make which norm, and what a norm does to its gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "common/arena/arena.h"
#include "common/job/spec.h"

namespace ballast {

// What limits the gradients of updates: training.clip, but nothing in local mode, where it limits those of local steps.
ClipSpec clip_of_updates(const TrainingSpec& training);

// By chunk id, for each sum that the chunk's owner measures, the norm that it is a part of. Chunks that are not
// descended (state, statistics) have none: what they hold is no gradient.
//   global_norm   one sum for each chunk, of norm 0
//   tensor_norm   one for each piece of a parameter (pieces_of), of the norm with the parameter's index
struct ClipNorms {
  std::vector<std::vector<std::uint32_t>> of_chunk;  // empty: the job does not clip by norm
  std::uint32_t count = 0;                           // norms: 0, 1 or one for each parameter
  double limit = 0;
};
ClipNorms clip_norms(const ClipSpec& clip, const Arena& arena);

// The factor of the gradients below one norm whose squares add up to `sum`: PyTorch's torch.nn.utils.clip_grad_norm_,
// min(1, limit / (norm + 1e-6)), in double and rounded to float once. R. Pascanu et al., "On the difficulty of training
// recurrent neural networks", 2013. A sum that is not finite gives 0 or NaN: act on it before. Pure.
float clip_scale(double limit, double sum);

}  // namespace ballast
