// Arithmetic on long vectors of floats, with the same bits whatever the machine's vector width.
#pragma once

#include <cstddef>

namespace ballast {

// left[i] += right[i] for i < n: one node of the reduction tree. Neither pointer need be aligned, not even to 4 bytes
// (payloads lie in messages where they please). The ranges must not overlap. Thread-safe.
void add_into(float* left, const float* right, std::size_t n);

}  // namespace ballast
