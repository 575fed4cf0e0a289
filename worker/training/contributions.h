// What a slot contributes in the job's mode: gradients, or the change of local steps; of state its change, or in item
// mode the statistic.
#pragma once

#include <memory>

#include "common/job/job.h"
#include "worker/models/model.h"

namespace ballast {

// The model whose train() writes that. `job` must outlive it.
std::unique_ptr<Model> with_contributions(std::unique_ptr<Model> model, const Job& job);

}  // namespace ballast
