// What a worker makes of the lead's welcome.
#pragma once

#include <cstdint>

#include "common/job/job.h"
#include "protocol/messages.h"
#include "protocol/worker/worker.h"

namespace ballast {

// The job that the lead tells. Throws std::runtime_error if this build reads it as another one.
Job job_of(const WorkerWelcome& welcome);

// Throws std::runtime_error if the list of lanes is not complete and in order, or needs more file descriptors than this
// process may have.
void check_lanes(const WorkerWelcome& welcome);

// Fills in what can be told from the job and the numbers of shards and lanes.
void complete(WorkerLayout& layout, const Job& job, std::uint32_t shards, std::uint32_t lanes_per_shard);

}  // namespace ballast
