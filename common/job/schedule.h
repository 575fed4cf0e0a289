// The learning rate of each step, and what else of the update follows from the step's number alone.
//
// With W = warmup_steps, the learning rate of step s (0-based) is training.optimizer.learning_rate times
//
//   s < W        (s + 1) / (W + 1)         along a line from 0 that reaches 1 at step W: PyTorch's LinearLR with
//                                          start_factor 1 / (W + 1) and total_iters W
//   s >= W       with k = s - W, as in PyTorch's SequentialLR with a milestone at W:
//     constant     1
//     step         decay_rate ^ floor(k / decay_steps)                          StepLR
//     exponential  decay_rate ^ (k / decay_steps)                               ExponentialLR with the gamma of one
//     step cosine       final_rate + (1 - final_rate) * (1 + cos(pi * k / T)) / 2    CosineAnnealingLR (I. Loshchilov,
//     F. Hutter,
//                  for k <= T, final_rate after that                            "SGDR", 2017), without restarts
//
// where T is decay_steps, or the steps from W to the end of the job where none are given.
#pragma once

#include <cstdint>

#include "common/job/spec.h"
#include "protocol/messages.h"

namespace ballast {

// The factor above, in double. Pure; thread-safe. `steps_of_job` concerns a cosine without decay_steps alone.
double schedule_factor(const ScheduleSpec& schedule, Step steps_of_job, Step step);

// The factors of a step that has `updates_before` applied (not skipped) steps before it: these count in Adam's bias
// corrections. In double, and each rounded to float once; neither skips nor scales. For the lead alone: other machines'
// pow and cos may differ in the last bit. Pure; thread-safe.
StepFactors step_factors(const TrainingSpec& training, Step steps_of_job, Step step, std::uint64_t updates_before);

}  // namespace ballast
