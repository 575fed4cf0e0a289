// What the built-in networks ask of examples, in words for a user.
#pragma once

#include <stdexcept>
#include <string>

#include "common/network/shape.h"

namespace ballast {

inline std::string described(const ExampleShape& shape) {
  return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " + std::to_string(shape.width) +
         " with " + std::to_string(shape.classes) + " classes";
}

// Images or vectors, each of one class.
inline void require_classified(const std::string& model, const ExampleShape& shape) {
  if (shape.features() == 0 || shape.classes < 2) {
    throw std::invalid_argument("model.name: " + model +
                                " needs examples of at least one value and two classes, but the data set's are " +
                                described(shape) + "; name another data set in data.name, or the emulated model");
  }
}

}  // namespace ballast
