// What a replay is made of, so that it takes as long as the job did.
#pragma once

#include "insight/job_times.h"

namespace ballast::insight {

// How fast the servers' links are is seen worst: their fastest stretches show a little too much. So they are taken to
// be as fast as makes the replay take as long as the job did, a fifth slower than seen at most. It costs six replays.
JobTimes calibrated(JobTimes times);

}  // namespace ballast::insight
