// How programs end, beside 0 (done) and 1 (failed, standard error says why); docs/cli.md.
#pragma once

namespace ballast {

// The command line, or a file that it names, is wrong, or a worker cannot read the job's data as the job says: the same
// again ends the same.
inline constexpr int kExitUsage = 2;

}  // namespace ballast
