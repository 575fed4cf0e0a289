// The weights as the arena lays them out: what they begin with, and their digests.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/job/job.h"

namespace ballast::reference {

std::vector<float> initial_weights(const Job& job);
// SHA-256 over the content of all parameters, in the model's order.
std::string weights_digest(const Job& job, const std::vector<float>& weights);
// The same over tensors of the optimizer's state, one after the other, without parameters that are not descended; empty
// if there is none.
std::string state_digest(const Job& job, std::span<const std::vector<float>> state);

}  // namespace ballast::reference
