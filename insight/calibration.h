// What a replay is made of, so that it takes as long as the job did.
#pragma once

#include "insight/job_times.h"

namespace ballast::insight {

// Where the replay takes less time than the job did, what is least certain is taken to have been slower, one after the
// other until hardly anything is missing: messages of lanes that starve, shards' links that are slow beside the others,
// or beside what was declared, journals that items wait for, links that lose what they carry, workers' links that are
// slow beside the others, the servers' link. Where it takes more, links that lose what they carry and slow ones of
// workers carry more; shards' links that are alike are in nobody's way, nor is a way of which nothing was seen, as far
// as that brings it nearer; then workers' links that are not slow beside the others are up to twice as fast. Each of
// them costs six to ten replays: 50 at most.
JobTimes calibrated(JobTimes times);

}  // namespace ballast::insight
