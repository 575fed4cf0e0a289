// `ballast digest`: the digests of a finished run's weights, read back from its databases.
#pragma once

#include <string>

namespace ballast {

// Prints one JSON object: job, step, weights_sha256, optimizer_sha256 (null without momentum). Returns the exit code: 1
// if the folder holds no finished run; standard error says why. Only reads.
int show_digest(const std::string& run_folder);

}  // namespace ballast
