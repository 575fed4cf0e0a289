// When a worker stood still between its slots.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

// By step, of `steps` from `first` on: for how many microseconds weights that had been sent to it waited beyond what is
// usual, where they did for long, and those of all lanes: what comes late from one alone is that lane's doing. None: 0.
std::vector<double> worker_stops(const Peers& peers, const ProcessTrace& worker, Step first, std::size_t steps);

}  // namespace ballast::insight
