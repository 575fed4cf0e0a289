// What a slot contributes of state (Group::state): its change, so that no other slot's change is lost and what nobody
// changes keeps its bits.
#pragma once

#include <memory>

#include "common/arena/arena.h"
#include "worker/models/model.h"

namespace ballast {

// The model, but that in place of each value of state, v, that train() makes of the weights' w it writes
// share * (v - w), where the share is that of the batch in the examples of the whole step: w and the sum over all slots
// are the mean of the slots' values. The model itself if its parameters have no state. `arena` must outlive it.
std::unique_ptr<Model> with_state_changes(std::unique_ptr<Model> model, const Arena& arena);

}  // namespace ballast
