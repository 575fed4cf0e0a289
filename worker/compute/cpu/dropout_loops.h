// Loops for dropout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/numeric/philox.h"

namespace ballast::cpu {

// factors[i] = draw `first` + i of the stream, as a uniform number, is below the rate ? 0 : 1 / (1 - rate). `first` is
// a multiple of 4.
void draw_factors(const RandomStream& stream, std::uint64_t first, float rate, float* factors, std::size_t n,
                  std::uint32_t threads);

// product[i] = a[i] * b[i], so that what is not a number stays so. In place if product is one of them.
void multiply_loop(const float* a, const float* b, float* product, std::size_t n, std::uint32_t threads);

}  // namespace ballast::cpu
