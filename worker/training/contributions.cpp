#include "worker/training/contributions.h"

#include <utility>

#include "worker/training/local_steps.h"
#include "worker/training/state_changes.h"

namespace ballast {

std::unique_ptr<Model> with_contributions(std::unique_ptr<Model> model, const Job& job) {
  if (job.spec.training.mode == Mode::local) {
    return with_local_steps(std::move(model), job);
  }
  return with_state_changes(
      std::move(model), job.arena,
      is_item_mode(job.spec.training.mode) ? StatisticsTravel::themselves : StatisticsTravel::as_changes);
}

// A gradient is divided by the examples that its update has; a change by the slots.
double share_undone(const Job& job, std::uint32_t counted, std::uint32_t examples) {
  return job.spec.training.mode == Mode::local ? static_cast<double>(job.spec.training.slots)
                                               : static_cast<double>(counted) / examples;
}

}  // namespace ballast
