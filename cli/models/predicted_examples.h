// The examples that `ballast predict` is asked about.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/models/loaded_model.h"
#include "worker/data/unlabelled/examples_stream.h"

namespace ballast {

// Of a split of the job's data, with their labels. Refers to nothing of the model.
std::unique_ptr<ExampleStream> examples_of_split(const LoadedModel& model, const EvaluatedSplit& split);

// Of files and folders of a user's own, one after the other, without labels. Throws std::runtime_error where
// open_unlabelled does, at once for all of them; next() throws it at the end of an input without any example. The model
// must outlive the stream.
std::unique_ptr<ExampleStream> examples_of_inputs(const LoadedModel& model, const std::vector<std::string>& inputs);

}  // namespace ballast
