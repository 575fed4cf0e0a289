// How long a job's steps would take if its work took what it is said to.
#pragma once

#include <cstddef>
#include <optional>

#include "insight/job_times.h"

namespace ballast::insight {

// Microseconds a step: as many steps as `times` has, after `learning` others in which the lead learns how fast each
// worker is, from slots that take what is usual. None: a step would take far longer than it did, or not end, or the job
// is so large that a replay takes longer than some ten seconds.
//
// Slots, contributions, sums, updates and weights follow each other as they do in the job, and the lead shares out
// slots by its own rules (SlotShares). Of a job in items it is what as many of them take as a step has, when a few of
// each worker are done; the lead grants them by its own rules (ItemGrants). A link carries one message after the other,
// and a lane's thread does one thing after the other. Memory for contributions is not short, and nobody comes, goes or
// dies. It costs some microseconds for each contribution and each chunk of weights, and for each slot a look at all
// workers. Stops that were taken out (passing_stops.h) cost what they did, whatever else is changed.
std::optional<double> replay(const JobTimes& times, std::size_t learning = 20);

}  // namespace ballast::insight
