// The division of a step's slots among workers.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// One range for each worker, in slot order; together they are all slots. `workers` is at least 1. Pure.
//
// A step takes as long as its longest range, and a worker sends a whole model for each node of the reduction tree that
// its range is made of. So no range is longer than ceil(slots / workers), and among such divisions this is one with the
// fewest nodes; among those the most even one. A range may be empty where the others are no longer for it. Each
// boundary is looked for within min(ceil(slots / workers), 16) slots of its proportional place: for up to 64 workers
// and 512 slots no better one lies elsewhere. The cost is workers x 33 x 33 at most.
std::vector<SlotRange> divide_slots(Slot slots, std::size_t workers);

}  // namespace ballast
