// `ballast check --data`: a job's data, looked at as its workers look at them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/job/job.h"
#include "worker/data/dataset.h"

namespace ballast {

enum class DataLook : std::uint8_t {
  none,
  opened,    // as a worker opens them before it trains: all but the decoding of images
  examples,  // and every example read
};

// Labels of a data set, of Labels::classes only: how many examples of each class the job counts in each split.
struct ClassCounts {
  std::vector<std::uint64_t> train;
  std::vector<std::uint64_t> validation;
  std::vector<std::uint64_t> test;
};
ClassCounts count_classes(const Dataset& dataset, const Job& job);

// What is said of them, a line each: a class's examples in each split; of more than 20 classes only those that a split
// lacks. Empty where labels are no classes.
std::string classes_text(const ClassCounts& counts, const Job& job);

// Every example that cannot be read, in the order of the splits: why, naming its file. Those of data.corrupt: skip are
// among them where reading, and not opening, finds them. Throws ReadFailure for what may pass.
std::vector<std::string> unreadable_examples(const Dataset& dataset, const Job& job);

// Prints what is found to standard output, and each corrupt example to standard error. False: there is one, and the job
// does not skip them. Throws BadData, or ReadFailure.
bool look_at_data(const Job& job, DataLook look);

}  // namespace ballast
