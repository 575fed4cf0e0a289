// How commands end, beside 0 (done) and 1 (failed, standard error says why); docs/cli.md.
#pragma once

namespace ballast {

inline constexpr int kExitBadJob = 2;    // the job file, its data or the command line is wrong
inline constexpr int kExitStopped = 3;   // `ballast stop` ended the run before the job's end; it can be resumed
inline constexpr int kExitSignal = 128;  // plus the signal that stopped the run

}  // namespace ballast
