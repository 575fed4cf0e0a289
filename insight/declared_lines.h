// What links carry by what was declared of them.
#pragma once

#include "insight/job_times.h"
#include "insight/job_trace.h"

namespace ballast::insight {

// Sets `line` of each worker and shard that has one: its part, where several workers, or several shards, share one; and
// of all shards together where they share one. Bytes of
// contributions and weights: headers are taken off. Costs a look at all records.
void add_declared_lines(const JobTrace& trace, JobTimes& times);

// What was not seen to be in anybody's way carries as much as was declared, and nothing carries more than that.
void fill_in_declared(JobTimes& times);

}  // namespace ballast::insight
