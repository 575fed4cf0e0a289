// How programs end, beside 0 (done) and 1 (failed, standard error says why); docs/cli.md.
#pragma once

namespace ballast {

// The command line, or a file that it names, is wrong, or a worker cannot read the job's data as the job says: the same
// again ends the same.
inline constexpr int kExitUsage = 2;

// This process has no place in the job, and another life of it would only say the same: the lead does not speak its
// version of the protocol, a worker's data or arithmetic are other than the job's, or the backend that it was told to
// compute on cannot be had.
inline constexpr int kExitForGood = 4;

}  // namespace ballast
