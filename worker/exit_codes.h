// How ballast-worker ends, beside 0 (the job finished or was stopped), 1 (it cannot go on, standard error says why) and
// kExitUsage.
#pragma once

namespace ballast {

// It cannot serve this job, and another life of it would only say the same: its data or arithmetic are other than
// the job's, or the backend that it was told to compute on cannot be had.
inline constexpr int kExitForGood = 4;

}  // namespace ballast
