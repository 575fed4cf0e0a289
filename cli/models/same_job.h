// Whether trained weights may be asked as another job file says.
#pragma once

#include <string>

#include "common/job/job.h"
#include "common/safetensors/header.h"

namespace ballast {

// What a network reads and predicts, for a file's metadata: input, normalization, outputs, classes, as far as the job
// has them (docs/cli.md, "ballast export").
safetensors::Metadata example_metadata(const Job& job);

// Weights and what their file or their run's databases say of the job that they come from.
struct WeightsOrigin {
  std::string path;                // of the file or the run's folder
  safetensors::Metadata metadata;  // with model and what example_metadata tells
  std::string job_file;            // the effective job; empty: not known
  std::string remedy;              // of a difference
};

// Compares the job that the weights are to be asked with, of the file `job_path`, with the one that they come from.
// What decides what the network computes, how its examples are prepared and what its outputs mean must be the same:
// throws std::runtime_error for the first that differs, naming both files, the key, both values and the remedy. Returns
// a sentence on what else differs (training, which examples), which may be meant; empty if nothing does.
std::string check_same_job(const WeightsOrigin& origin, const Job& job, const std::string& job_path);

}  // namespace ballast
