// How soon a job in items can be through with a step's slots.
#pragma once

#include "insight/job_times.h"

namespace ballast {

// Microseconds, by what is busy for longest: workers that compute, read, fetch the whole model and send a whole
// gradient for each slot, all at a time; the links of servers; lanes, which make an update of each contribution. No job
// is quicker; how much slower one is, for its parts wait for each other, this does not say (J. Buzen, P. Denning,
// "Operational analysis of queueing network models", 1978). Pure.
double item_bound(const insight::JobTimes& times);

}  // namespace ballast
