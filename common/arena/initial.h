// The values of a parameter before step 0.
#pragma once

#include <cstdint>
#include <span>

#include "common/arena/parameter.h"

namespace ballast {

// Writes elements [first, first + values.size()) of parameter number `parameter` (its index in the arena). A function
// of (seed, parameter, element): any cutting of a parameter into ranges gives the same bytes. Uniform values are (2 u -
// 1) * b with u in [0, 1), a multiple of 2^-24. Thread-safe.
void fill_initial(std::span<float> values, const Initial& initial, std::uint64_t seed, std::uint32_t parameter,
                  std::uint64_t first);

}  // namespace ballast
