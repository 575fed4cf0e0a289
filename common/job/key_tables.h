// The parts of the table of the keys of job files.
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "common/job/schema.h"

namespace ballast {

inline void append(std::vector<Key>& keys, std::vector<Key> more) {
  keys.insert(keys.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// All below `model`.
std::vector<Key> model_keys(ModelSpec& model);
// The values of data.name that name images.
inline const std::vector<std::string>& image_sets() {
  static const std::vector<std::string> kSets = {"mnist", "glyphs", "idx", "cifar10", "images"};
  return kSets;
}

// Those that name files of text, tables and arrays.
inline const std::vector<std::string>& example_file_sets() {
  static const std::vector<std::string> kSets = {"text", "characters", "trees", "csv", "npy"};
  return kSets;
}
inline std::vector<std::string> joined(std::vector<std::string> sets, const std::vector<std::string>& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

// All below `data`.
std::vector<Key> data_keys(DataSpec& data);
// Of data sets of text, tables and arrays.
std::vector<Key> example_file_keys(DataSpec& data);

// All below `training`, section after section.
std::vector<Key> training_keys(TrainingSpec& training);

}  // namespace ballast
