// `ballast digest`: the digests of a run's weights, read back from its databases.
#pragma once

#include <optional>
#include <string>

#include "protocol/ids.h"

namespace ballast {

// Prints one JSON object: job, step, weights_sha256, optimizer_sha256 (null where the optimizer keeps no state). Of the
// finished job, or of the complete snapshot of `step`. Returns the exit code; throws std::runtime_error if there is no
// such snapshot, with those there are. Only reads.
int show_digest(const std::string& run_folder, std::optional<Step> step = {});

}  // namespace ballast
