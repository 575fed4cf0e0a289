// Loops over windows. They choose and add values in one order, so that neither vector width nor threads change a bit,
// and what is not a number stays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/network/layers.h"

namespace ballast::cpu {

// A tensor as planes of height x width x inner floats (ChannelLayout).
struct PoolPlanes {
  std::size_t planes = 0;
  std::size_t inner = 0;
  std::uint32_t x_height = 0;
  std::uint32_t x_width = 0;
  std::uint32_t y_height = 0;
  std::uint32_t y_width = 0;
  Pair window = {};
  Pair stride = {};
  Pair padding = {};
  bool count_padding = false;  // of average_pool_loop: padding counts as zeros
};

// winners[i] = the place of y[i] in its window, in row-major order; the first not-a-number wins over everything.
void max_pool_loop(const PoolPlanes& shape, const float* x, float* y, std::int32_t* winners, std::uint32_t threads);
// Overwrites all of x_gradient.
void max_pool_backward_loop(const PoolPlanes& shape, const float* y_gradient, const std::int32_t* winners,
                            float* x_gradient, std::uint32_t threads);

// Sums row by row of each window.
void average_pool_loop(const PoolPlanes& shape, const float* x, float* y, std::uint32_t threads);
// Overwrites all of x_gradient.
void average_pool_backward_loop(const PoolPlanes& shape, const float* y_gradient, float* x_gradient,
                                std::uint32_t threads);

}  // namespace ballast::cpu
