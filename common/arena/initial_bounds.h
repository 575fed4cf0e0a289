// Bounds of the uniform initial weights, from the number of inputs that one output sums. Square roots only: they are
// exactly rounded everywhere, so every machine fills the same bits.
#pragma once

#include <cmath>
#include <cstdint>

namespace ballast {

// Keeps the mean square of activations through a ReLU: K. He et al., "Delving Deep into Rectifiers", 2015.
inline float relu_bound(std::uint64_t fan_in) {
  return static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)));
}

// The same without a ReLU behind it: Y. LeCun et al., "Efficient BackProp", 1998.
inline float output_bound(std::uint64_t fan_in) {
  return static_cast<float>(std::sqrt(3.0 / static_cast<double>(fan_in)));
}

}  // namespace ballast
