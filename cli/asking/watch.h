// `ballast watch`: shows what `ballast run` shows of a job that was started otherwise, from wherever its lead can be
// reached.
#pragma once

#include <cstdint>
#include <string>

#include "cli/telling/progress.h"

namespace ballast {

struct WatchOptions {
  std::string where;             // a run's folder, or the lead's address
  std::string keys;              // a file of an operator's; empty: none, or those of the run in the folder
  std::uint32_t patience = 600;  // seconds that the lead may be silent, at the start as well
  ShowOptions show;
};

// Until the job is over, or the lead has been silent for too long. Only looks: a signal ends the watching, and the job
// goes on. Returns the exit code of `ballast run`: 0 finished, 1 failed or silent, 3 stopped; 128 + the signal. Throws
// std::runtime_error for a bad `where` or a file of events that cannot be opened.
int watch_job(const WatchOptions& options);

}  // namespace ballast
