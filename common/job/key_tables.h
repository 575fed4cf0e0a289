// The parts of the table of the keys of job files.
#pragma once

#include <iterator>
#include <vector>

#include "common/job/schema.h"

namespace ballast {

inline void append(std::vector<Key>& keys, std::vector<Key> more) {
  keys.insert(keys.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// All below `model`.
std::vector<Key> model_keys(ModelSpec& model);

// All below `training`, section after section.
std::vector<Key> training_keys(TrainingSpec& training);

}  // namespace ballast
