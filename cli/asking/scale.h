// `ballast scale`: more workers, or fewer, for a run that goes on meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "cli/run_folder/scale_files.h"

namespace ballast {

struct ScaleOptions {
  std::string folder;  // of the run
  std::uint32_t workers = 0;
  int patience = 60;  // seconds
};

// Asks the `ballast run` that supervises the run in the folder, and waits until its workers are as many. Returns the
// exit code: 1 if that did not come about in time, or not for all of them; standard error says why. Throws UsageError
// for an address, and std::runtime_error where nobody supervises a run.
int scale_run(const ScaleOptions& options);

}  // namespace ballast
