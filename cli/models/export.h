// `ballast export`: a run's weights as a safetensors file, for other frameworks and for other jobs to start from.
#pragma once

#include <string>

#include "cli/models/opened_run.h"

namespace ballast {

struct ExportOptions {
  std::string run;
  std::string output;
  SnapshotChoice snapshot;
};

// Says which weights were written and where. The file appears whole or not at all. Its metadata: job, step, timeline,
// spec_digest, layout_digest, weights_sha256 (of what is in the file; of the last weights as `ballast digest` gives it)
// and, of a job that averages its weights, weights: averages or last. Returns the exit code. Throws
// std::runtime_error if there are no such weights or the file cannot be written.
int export_weights(const ExportOptions& options);

}  // namespace ballast
