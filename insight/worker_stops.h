// When a worker stood still between its slots.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/job_times.h"
#include "insight/job_trace.h"

namespace ballast::insight {

// By step, of `steps` from `first` on: for how many microseconds weights that had been sent to it, and contributions
// that it had ready, waited beyond what is usual, where they did for long, and those of all lanes: what is late with
// one alone is that lane's doing. None: 0.
std::vector<double> worker_stops(const Peers& peers, const ProcessTrace& worker, Step first, std::size_t steps);

// Adds to `times.stops` for how long it said nothing where it stood still in the midst of its work and others computed
// what it had, so that no slot shows it. `first`: the step of the first ones.
void add_silences(const ProcessTrace& worker, Step first, WorkerTimes& times);

}  // namespace ballast::insight
