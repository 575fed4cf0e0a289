// Arithmetic on long vectors of floats, with the same bits whatever the machine's vector width.
#pragma once

#include <cstddef>
#include <span>

namespace ballast {

// left[i] += right[i] for i < n: one node of the reduction tree. Neither pointer need be aligned, not even to 4 bytes
// (payloads lie in messages where they please). The ranges must not overlap. Thread-safe.
void add_into(float* left, const float* right, std::size_t n);

// Whether there is no infinity and no NaN, in what was added and in what came of it. Finite operands may have a sum
// that overflows.
struct Finite {
  bool left = true;
  bool right = true;
  bool sum = true;
};

// add_into, with the same bits, which looks for infinities and NaNs on its way: a pass of its own over the sum costs
// half as much again. Thread-safe.
Finite add_into_looking(float* left, const float* right, std::size_t n);

// No element is an infinity or a NaN. `values.data()` may have any alignment. Thread-safe.
bool all_finite(std::span<const float> values);

}  // namespace ballast
