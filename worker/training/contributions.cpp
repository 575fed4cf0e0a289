#include "worker/training/contributions.h"

#include <utility>

#include "worker/training/local_steps.h"
#include "worker/training/state_changes.h"

namespace ballast {

std::unique_ptr<Model> with_contributions(std::unique_ptr<Model> model, const Job& job) {
  return job.spec.training.mode == Mode::local ? with_local_steps(std::move(model), job)
                                               : with_state_changes(std::move(model), job.arena);
}

}  // namespace ballast
