// `ballast predict`: what a trained model makes of examples, one line for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/models/loaded_model.h"

namespace ballast {

struct PredictOptions {
  ModelSource source;
  std::string split;                // test, validation or train; of the job's data. Empty: as LoadedModel::split_named
  std::vector<std::string> inputs;  // files and folders of a user's own instead of the job's data: without labels
  std::string format = "csv";       // or jsonl
  std::string output;               // empty: standard output
  std::optional<std::uint64_t> limit;  // examples at most
};

// What a line holds depends on what the model predicts, behind index, source and error:
//
// one class           label,predicted,p0,p1,...           label empty where there is none
// a class each step   step,label,predicted,p0,p1,...      a line for each step that is labelled
// several classes     label0,...,p0,...
// numbers             target0,...,predicted0,...
// autoencoders        r0,r1,...                           the reconstruction
//
// in csv, below a line of these names. In jsonl: {"index":0,"source":"a.png","error":null,"label":7,"predicted":7,
// "probabilities":[...]}, with "step", "labels", "targets" and "reconstruction" alike; null where there is none. An
// example that cannot be read has a line with an error, "corrupt: ...", and nothing behind it. Numbers are as the
// network is trained on them; where data are normalised, standard error says how.
//
// Floats are written so that they read back as the same. An output file appears whole or not at all. Returns the exit
// code; throws std::runtime_error with a text for the user.
int predict(const PredictOptions& options);

}  // namespace ballast
