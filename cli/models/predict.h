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

// What a line holds depends on what the model predicts:
//
// one class           index,label,predicted,p0,p1,...           label empty where there is none
// a class each step   index,step,label,predicted,p0,p1,...      a line for each step that is labelled
// several classes     index,label0,...,p0,...
// numbers             index,target0,...,predicted0,...
// autoencoders        index,r0,r1,...                           the reconstruction
//
// in csv, below a line of these names. In jsonl: {"index":0,"label":7,"predicted":7,"probabilities":[...]}, with
// "step", "labels", "targets" and "reconstruction" alike; null where there is none. Numbers are as the network is
// trained on them; where data are normalised, standard error says how.
//
// Floats are written so that they read back as the same. An output file appears whole or not at all. Returns the exit
// code; throws std::runtime_error with a text for the user.
int predict(const PredictOptions& options);

}  // namespace ballast
