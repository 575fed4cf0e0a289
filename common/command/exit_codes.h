// How programs end, beside 0 (done) and 1 (failed, standard error says why); docs/cli.md.
#pragma once

namespace ballast {

inline constexpr int kExitUsage =
    2;  // the command line, or a file that it names, is wrong: the same again ends the same

}  // namespace ballast
