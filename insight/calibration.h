// What a replay is made of, so that it takes as long as the job did.
#pragma once

#include "insight/job_times.h"

namespace ballast::insight {

// How fast links are is seen worst. The fastest stretches of the servers' show a little too much: where the replay
// takes less time than the job did they are taken to be slower than they seemed, by a fifth at most. A worker's own
// link shows too little where it was never in the way alone: where the replay takes longer, those that are not slow
// beside the others are taken to be faster, twice at most. It costs seven replays.
JobTimes calibrated(JobTimes times);

}  // namespace ballast::insight
