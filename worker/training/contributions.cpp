#include "worker/training/contributions.h"

#include <utility>

#include "worker/training/local_steps.h"
#include "worker/training/state_changes.h"

namespace ballast {

// A gradient is divided by the examples that its update has; a change by the slots.
Contributions contributions_of(std::unique_ptr<Model> model, const Job& job) {
  const auto& training = job.spec.training;
  if (training.mode == Mode::local) {
    return {with_local_steps(std::move(model), job), UndoneShare(training.slots)};
  }
  return {with_state_changes(std::move(model), job.arena,
                             is_item_mode(training.mode) ? StatisticsTravel::themselves : StatisticsTravel::as_changes),
          UndoneShare()};
}

}  // namespace ballast
