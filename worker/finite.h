// Whether a gradient is one.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace ballast {

// No element is an infinity or a NaN. Integer arithmetic in one pass without branches, for compilers to vectorize:
// fast enough to be bound by the cache. Thread-safe.
inline bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7F800000;  // all ones exactly in infinities and NaNs (IEEE 754)
  std::uint32_t found = 0;
  for (const float value : values) {
    found |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? ~0U : 0U;
  }
  return found == 0;
}

}  // namespace ballast
