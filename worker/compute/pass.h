// What one pass through a network depends on, beside examples' floats and weights.
#pragma once

#include <cstdint>

#include "common/numeric/philox.h"
#include "worker/compute/batch.h"

namespace ballast {

struct Pass {
  Batch batch;
  bool training = false;  // dropout and batch normalization differ
  // What random draws of a training pass are made from.
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t slot = 0;
  std::uint32_t local_step = 0;
};

// Dropout keeps element i of layer `number` (row-major as in Shape) if draw first_dropout_draw(...) + i of
// dropout_stream(pass) is, as a uniform number, not below the rate. Layers of a network below 2^12, elements below
// 2^40.
inline RandomStream dropout_stream(const Pass& pass) {
  return RandomStream({pass.seed, Purpose::dropout, pass.step, pass.slot});
}
constexpr std::uint64_t first_dropout_draw(const Pass& pass, std::uint32_t number) {
  return (std::uint64_t{pass.local_step} << 52U) | (std::uint64_t{number} << 40U);
}

}  // namespace ballast
