// `ballast evaluate`: the loss and accuracy of a trained model, computed as workers do.
#pragma once

#include <string>

#include "cli/models/loaded_model.h"

namespace ballast {

struct EvaluateOptions {
  ModelSource source;
  std::string split = {};  // test, validation or train; empty: as LoadedModel::split_named
  bool json = false;
};

// Prints which weights were evaluated, the mean loss and the share of right answers or the errors of numbers. The
// accuracy is that of the run's own evaluation of these weights, example for example, but for corrupt images, which are
// left out here and replaced there. Returns the exit code; throws std::runtime_error with a text for the user.
int evaluate(const EvaluateOptions& options);

}  // namespace ballast
