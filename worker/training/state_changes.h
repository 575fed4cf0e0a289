// What a slot contributes of state (Group::state): its change, so that no other slot's change is lost and what nobody
// changes keeps its bits.
#pragma once

#include <cstdint>
#include <memory>

#include "common/arena/arena.h"
#include "worker/models/model.h"

namespace ballast {

// What travels of a running statistic (Parameter::momentum).
enum class StatisticsTravel : std::uint8_t {
  as_changes,  // as of all state: it is blended here
  themselves,  // the shard blends it into its newest value
};

// The model, but that in place of what train() makes of state it writes how that changes the weights' w. The share is
// that of the batch in the examples of the task.
//   of a buffer, whose new value is v        share * (v - w)
//   of a statistic s with the momentum m     share * (m * (s - w)), or s itself
// So w and the sum of the changes over all slots are the mean of the slots' values. The model itself if its parameters
// have no state. `arena` must outlive it.
std::unique_ptr<Model> with_state_changes(std::unique_ptr<Model> model, const Arena& arena, StatisticsTravel travel);

}  // namespace ballast
