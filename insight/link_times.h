// What links carry, of a job of which else all is known.
#pragma once

#include "insight/connections.h"
#include "insight/job_times.h"
#include "insight/job_trace.h"

namespace ballast::insight {

// Sets `up` and `down` of workers, `shards`, `servers` and `line` by the messages of `trace`.
void add_link_times(const JobTrace& trace, const Peers& peers, const Connections& connections, JobTimes& times);

}  // namespace ballast::insight
