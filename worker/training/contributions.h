// What a slot contributes in the job's mode: gradients, or the change of local steps; of state its change, or in item
// mode the statistic.
#pragma once

#include <cstdint>
#include <memory>

#include "common/job/job.h"
#include "worker/models/model.h"

namespace ballast {

// The model whose train() writes that. `job` must outlive it.
std::unique_ptr<Model> with_contributions(std::unique_ptr<Model> model, const Job& job);

// What a contribution of so many examples is to be multiplied by to be a mean over them, or a whole change: it holds
// the slot's part of an update of `counted` examples.
double share_undone(const Job& job, std::uint32_t counted, std::uint32_t examples);

}  // namespace ballast
