// Local steps (training.mode: local): a slot trains a copy of the weights, and its change is what it contributes.
//
// B. McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized Data", AISTATS 2017
// (averaging); A. Douillard et al., "DiLoCo: Distributed Low-Communication Training of Language Models", 2023 (an outer
// optimizer takes the mean change for a gradient).
//
// A slot of b = batch / slots examples makes H = training.local.steps steps; the h-th takes the slot's examples
// [h * b / H, (h + 1) * b / H) and their mean gradient. A slot with fewer examples (the tail of an epoch) leaves out
// the steps that have none. Its gradient, as the rest of the worker sees it, is (weights before - weights after) /
// slots, so that the round's root is the mean change of all slots, negated. What the last step has made of state
// (Group::state) travels as with sync: as its change, weighted by the slot's share of the round's examples.
#pragma once

#include <memory>

#include "common/job/job.h"
#include "worker/models/model.h"

namespace ballast {

// The model with the job's local steps around it. `job` must outlive it. A step whose gradient
// is not finite is the slot's last: its change is not finite either, at the same elements.
std::unique_ptr<Model> with_local_steps(std::unique_ptr<Model> model, const Job& job);

}  // namespace ballast
