// How a job's lead grants items, as far as it shows.
#pragma once

#include "insight/job_times.h"
#include "insight/job_trace.h"

namespace ballast::insight {

// By the part of a trace of a job in items. Of one whose staleness is bounded the largest exposure that was seen, which
// is no more than the bound (protocol/lead/item_grants).
GrantRules seen_grants(const JobTrace& trace);

// With the bound by which a replay takes as long as the job did, no lower than the one that was seen; with none where
// one without it takes as long. It costs some eight replays. A job without a bound is left as it is.
JobTimes with_fitted_bound(JobTimes times);

}  // namespace ballast::insight
