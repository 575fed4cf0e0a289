// How soon a job in items can be through with a step's slots.
#pragma once

#include "insight/job_times.h"

namespace ballast {

// Microseconds, by what is busy for longest: workers, which send a gradient of the whole model and fetch its weights
// for each slot, from when the first chunk's gradient is ready; the links of servers; lanes, which make an update of
// each contribution. No job is quicker; how much slower one is, for its parts wait for each other, this does not say
// (P. Denning, J. Buzen, "The operational analysis of queueing network models", 1978). Pure.
double item_bound(const insight::JobTimes& times);

}  // namespace ballast
