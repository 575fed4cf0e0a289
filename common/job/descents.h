// By which settings each parameter is descended: the optimizer's and its group's, or those of
// training.parameter_groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/arena/parameter.h"
#include "common/job/spec.h"
#include "common/numeric/optimizer.h"

namespace ballast {

struct Descent {
  OptimizerSettings optimizer;
  float rate = 1;  // factor of the learning rate
  bool operator==(const Descent&) const = default;

  // Of a step, for this parameter.
  [[nodiscard]] StepScalars scalars(StepScalars step) const {
    step.learning_rate *= rate;
    step.step_size *= optimizer.kind == OptimizerKind::lamb ? 1 : rate;  // lamb's has no rate in it
    return step;
  }
};

// All that differ, and by parameter the index of its own (of state, which is not descended, without a meaning).
struct Descents {
  std::vector<Descent> kinds;
  std::vector<std::uint32_t> of_parameter;

  [[nodiscard]] const Descent& of(std::size_t parameter) const { return kinds[of_parameter[parameter]]; }
};

// Of a job's updates. With local steps training.parameter_groups are theirs, as training.clip is.
Descents descents(const TrainingSpec& training, const std::vector<Parameter>& parameters);

// Of its local steps.
Descents local_descents(const TrainingSpec& training, const std::vector<Parameter>& parameters);

}  // namespace ballast
