// The job's optimizer in the terms of common/numeric.
#pragma once

#include <cstddef>

#include "common/arena/parameter.h"
#include "common/job/spec.h"
#include "common/numeric/optimizer.h"

namespace ballast {

// For the parameters of a group that is descended (decay or no_decay): weight decay is for Group::decay alone.
// `training.clip.value` is contained; clipping by norm comes with each step's factors. Throws std::invalid_argument for
// an optimizer that does not exist (no parsed job names one). Thread-safe.
OptimizerSettings optimizer_settings(const TrainingSpec& training, Group group);

// What shards keep for each weight of such a group: the optimizer's state, then its moving average where the job has
// one, which is no more than a copy of the weights at first.
std::size_t tensors_beside_weights(const TrainingSpec& training, Group group);

// The same of training.local.optimizer, whose gradients training.clip limits.
OptimizerSettings local_optimizer_settings(const TrainingSpec& training, Group group);

}  // namespace ballast
