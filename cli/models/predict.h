// `ballast predict`: what a trained model makes of examples, one line for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/models/loaded_model.h"

namespace ballast {

struct PredictOptions {
  ModelSource source;
  std::string split = "test";          // or validation; of the job's data
  std::string input;                   // an idx file of images instead of the job's data; they have no labels
  std::string format = "csv";          // or jsonl
  std::string output;                  // empty: standard output
  std::optional<std::uint64_t> limit;  // examples at most
};

// csv    a line of names, then: index,label,predicted,p0,p1,...     (label empty where there is none)
// jsonl  {"index":0,"label":7,"predicted":7,"probabilities":[...]}  (null where there is none)
//
// Probabilities are written so that they read back as the same floats. An output file appears whole or not at all.
// Returns the exit code; throws std::runtime_error with a text for the user.
int predict(const PredictOptions& options);

}  // namespace ballast
