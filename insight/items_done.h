// When each item of a job in items was done.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/job_trace.h"
#include "insight/whole_steps.h"

namespace ballast::insight {

struct ItemDone {
  Micros at = 0;  // its last update, on the lead's clock
  ItemId item = 0;
};

struct ItemsDone {
  Slot slots = 1;                  // of a step
  std::uint32_t chunks = 0;        // each of which an item updates
  std::vector<ItemDone> all = {};  // by when they were done
};

// Those that have updated every chunk, since all that has contributed is here and has said what it computed.
ItemsDone items_done(const JobTrace& trace);

// As whole_steps() of a job in rounds. Items are done in any order: step n ends when as many are done as there are in
// the steps up to n.
std::vector<WholeStep> steps_of_items(const ItemsDone& done, std::size_t most);

}  // namespace ballast::insight
