// What a slot of the job takes here: computed as a worker computes it.
#pragma once

#include <string>

#include "cli/advising/probe.h"
#include "common/job/job.h"
#include "worker/compute/choose.h"

namespace ballast {

struct SlotProbing {
  std::string data_path;  // as of a worker
  BackendRequest backend;
  double seconds = 2;  // for which slots are computed, beside opening the data and warming up; three pairs at least
};

// With the job's data where they are here, else with examples of the same shape that are drawn (the time that reading
// takes is not known then). It takes the memory that a worker takes. Throws BackendUnavailable, and std::runtime_error
// where slots cannot be computed.
SlotProbe probe_slots(const Job& job, const SlotProbing& probing);

}  // namespace ballast
