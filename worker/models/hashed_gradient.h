// The values of emulated gradients: an integer hash of where they stand, without any function of libm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ballast {

// Mixes one more word into a key. The finaliser of splitmix64: G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014.
constexpr std::uint64_t mix_key(std::uint64_t key, std::uint64_t word) {
  std::uint64_t mixed = (key ^ word) + 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31U);
}

// The value at one element, in [-0.001, 0.001). `weight_bits` is 0 where gradients do not depend on weights. The mixer
// is C. Wellons' lowbias32; it needs 32-bit products only, so compilers turn loops of it into vector code.
constexpr float hashed_value(std::uint64_t key, std::uint32_t element, std::uint32_t weight_bits) {
  std::uint32_t x = element * 0x9E3779B1U + static_cast<std::uint32_t>(key);
  x ^= weight_bits;
  x ^= x >> 16U;
  x *= 0x7FEB352DU;
  x ^= static_cast<std::uint32_t>(key >> 32U);
  x ^= x >> 15U;
  x *= 0x846CA68BU;
  x ^= x >> 16U;
  return static_cast<float>(static_cast<std::int32_t>(x)) * (0.001F / 2147483648.0F);
}

// gradient[i] = hashed_value(key, i, bits of weights[i]). Spans of equal size. The bits do not depend on the machine.
void write_hashed(std::uint64_t key, std::span<const float> weights, std::span<float> gradient);

// gradient[i] = hashed_value(key, i, 0).
void write_fixed(std::uint64_t key, std::span<float> gradient);

// Whether `gradient` holds what write_fixed would write, judged by one element in 16,384, the first and the last.
bool holds_fixed(std::uint64_t key, std::span<const float> gradient);

}  // namespace ballast
