// One loss on one backend: forward and backward, from given predictions.
#pragma once

#include <vector>

#include "tests/numeric/layers/cases.h"
#include "worker/compute/backend.h"

namespace ballast::layers {

inline constexpr float kLossScale = 0.125F;  // of the gradient

struct LossOutcome {
  LossSums sums;
  std::vector<float> predictions;
  std::vector<float> gradient;
};

// Throws what Backend::prepare_loss throws.
LossOutcome run_loss(Backend& backend, const LossCase& drawn, const std::vector<float>& prediction_values);

}  // namespace ballast::layers
