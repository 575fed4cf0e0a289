// Functions of eight floats at once: polynomials of our own in place of the C library's functions, which take one float
// at a time and have other bits on other systems. What is not a number stays so. Errors are those over all floats that
// the tests try, in units of the result's last place where nothing else is said.
#pragma once

#include "worker/compute/cpu/vectors.h"

namespace ballast::cpu {

BALLAST_VECTOR_INLINE Ints bits_of(Floats value) { return std::bit_cast<Ints>(value); }
BALLAST_VECTOR_INLINE Floats from_bits(Ints bits) { return std::bit_cast<Floats>(bits); }

BALLAST_VECTOR_INLINE Floats magnitude(Floats x) { return from_bits(bits_of(x) & 0x7FFFFFFF); }

// e^x within 2 units; 0 below e^-86.9, so that no result is subnormal; infinite above e^88.72.
// x = n log 2 + r, e^r = 1 + r + r^2 P(r), P minimax for |r| <= log(2) / 2.
BALLAST_VECTOR_INLINE Floats exp_of(Floats x) {
  constexpr float kSmallest = -86.9F;
  constexpr float kLargest = 89.0F;
  constexpr float kPerLog2 = 1.44269504F;
  constexpr float kLog2Upper = 0.693359375F;  // few bits: its products with n are exact
  constexpr float kLog2Lower = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves whole numbers in the last bits
  const Floats bounded = x > kLargest ? all_lanes(kLargest) : x;
  const Floats shifted = bounded * kPerLog2 + kRound;
  const Floats n = shifted - kRound;
  const Floats r = (bounded - n * kLog2Upper) - n * kLog2Lower;
  Floats p = r * 0.0013814596F + 0.0083687175F;
  p = p * r + 0.04166839F;
  p = p * r + 0.16666521F;
  p = p * r + 0.49999994F;
  p = (p * (r * r) + r) + 1.0F;
  // 2^(n - 1), doubled at the end: 2^128 is no float.
  const auto exponent = reinterpret_cast<Words>(bits_of(shifted)) << 23U;
  const Floats power = from_bits(reinterpret_cast<Ints>(exponent + (126U << 23U)));
  return x < kSmallest ? Floats{} : p * power * 2.0F;
}

// 1 / (1 + e^-x) within 3 units; 0 below -88.8.
BALLAST_VECTOR_INLINE Floats sigmoid_of(Floats x) { return 1.0F / (1.0F + exp_of(-x)); }

// Within 3 units. x + x^3 P(x^2), P minimax, for |x| < 0.625; otherwise 1 - 2 / (e^2|x| + 1) with the sign of x.
BALLAST_VECTOR_INLINE Floats tanh_of(Floats x) {
  constexpr float kBorder = 0.625F;
  const Floats size = magnitude(x);
  const Floats square = x * x;
  Floats p = square * -0.005717037F + 0.020650579F;
  p = p * square - 0.053743497F;
  p = p * square + 0.13331491F;
  p = p * square - 0.33333284F;
  const Floats near = (p * square) * x + x;
  const Floats far = 1.0F - 2.0F / (exp_of(2.0F * size) + 1.0F);
  const Floats signed_far = from_bits(bits_of(far) | (bits_of(x) & INT32_MIN));
  return size < kBorder ? near : signed_far;
}

// The normal distribution: Phi(x), and its density times sqrt(2 pi).
struct Normal {
  Floats cumulative;  // within 2e-7
  Floats density;
};

// Phi(-a) = e^(-a^2 / 2) t P(t), t = 1 / (1 + 0.3 a / sqrt(2)), P minimax for the relative error.
BALLAST_VECTOR_INLINE Normal normal_of(Floats x) {
  constexpr float kPerSize = 0.21213203F;  // 0.3 / sqrt(2)
  const Floats density = exp_of(x * x * -0.5F);
  const Floats t = 1.0F / (1.0F + magnitude(x) * kPerSize);
  Floats p = t * -0.06476157F + 0.2427822F;
  p = p * t - 0.25614038F;
  p = p * t + 0.27386165F;
  p = p * t - 0.04732657F;
  p = p * t + 0.10746358F;
  p = p * t + 0.07416943F;
  p = p * t + 0.085357636F;
  p = p * t + 0.084594004F;
  const Floats tail = density * (t * p);
  return {x < 0.0F ? tail : 1.0F - tail, density};
}

}  // namespace ballast::cpu
