// The examples that `ballast predict` is asked about.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/models/loaded_model.h"

namespace ballast {

struct PredictedExamples {
  std::uint64_t count = 0;
  bool labelled = false;
  std::function<void(std::uint64_t index, const ExampleRoom& room)> read;
};

// Of an idx file of images of the job's size. Throws std::runtime_error if the job's examples are no grey images, or
// the file is not such a one.
PredictedExamples examples_of_file(const std::string& path, const Job& job);

// Of a split of the job's data, with their labels.
PredictedExamples examples_of_job(const LoadedModel& model, const std::string& split);

}  // namespace ballast
