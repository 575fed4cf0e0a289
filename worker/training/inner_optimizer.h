// The optimizer of local steps: what training.local.optimizer says, on the whole arena.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/arena/arena.h"
#include "common/arena/pieces.h"
#include "common/job/clip_norms.h"
#include "common/job/descents.h"
#include "common/job/job.h"
#include "common/numeric/optimizer.h"

namespace ballast {

// One thread uses it. The bits depend on the arguments since begin() alone: the powers of beta in Adam's bias
// corrections are products of so many factors, since pow is not the same on every machine.
class InnerOptimizer {
 public:
  // `job` must outlive it.
  explicit InnerOptimizer(const Job& job);

  // State and bias corrections as before the first step.
  void begin();

  // One step: `next` becomes `weights` changed by the gradient, which training.clip limits first; of state it becomes
  // what the gradient has in its place, or for a running statistic the blend of the two. All three are whole arenas and
  // do not overlap; bytes outside of parameters are not touched. False if the gradient has an infinity or a
  // NaN: it is then taken as it is, so that `next` has one at each such element.
  bool step(std::span<const float> weights, std::span<const float> gradient, std::span<float> next);

 private:
  StepScalars next_scalars();
  // The factor of each parameter's gradient by the limits on norms.
  void measure_norms(std::span<const float> gradient);
  // Or of its update, where it has a trust ratio.
  void measure_ratios(const StepScalars& scalars, std::span<const float> weights, std::span<const float> gradient);
  [[nodiscard]] bool is_finite(std::span<const float> gradient) const;
  void descend(std::size_t parameter, const OptimizerSettings& settings, const StepScalars& scalars, float scale,
               std::span<const float> weights, std::span<const float> gradient, std::span<float> next);
  void change_state_of(std::size_t parameter, std::span<const float> weights, std::span<const float> made,
                       std::span<float> next) const;

  const Job& job_;
  Descents descents_;
  ClipNorms norms_;
  bool has_ratios_;                         // then nothing is clipped by norm
  std::vector<std::vector<Piece>> pieces_;  // by chunk
  std::vector<StateTensor> tensors_;
  std::vector<std::vector<float>> state_;  // by tensor, each as large as the arena
  std::vector<float> scales_;              // by parameter: of its gradient, or its trust ratio
  double beta1_power_ = 1;
  double beta2_power_ = 1;
};

}  // namespace ballast
