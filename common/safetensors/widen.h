// Shorter floats as float: every value of theirs is a float, so widening is exact. NaNs keep their bits.
#pragma once

#include <bit>
#include <cstdint>

namespace ballast::safetensors {

// The upper half of a float.
constexpr float widen_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
constexpr float widen_f16(std::uint16_t bits) {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16U;
  const std::uint32_t exponent = (std::uint32_t{bits} >> 10U) & 0x1FU;
  const std::uint32_t fraction = std::uint32_t{bits} & 0x3FFU;
  constexpr std::uint32_t kBias = 127 - 15;
  if (exponent == 0x1FU) {  // infinity or NaN
    return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13U));
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + kBias) << 23U) | (fraction << 13U));
  }
  if (fraction == 0) {
    return std::bit_cast<float>(sign);
  }
  // Subnormal: fraction * 2^-24, a normal float with its leading bit made implicit.
  const auto leading = static_cast<std::uint32_t>(std::bit_width(fraction)) - 1;
  return std::bit_cast<float>(sign | ((leading + 127 - 24) << 23U) | ((fraction << (23U - leading)) & 0x7FFFFFU));
}

}  // namespace ballast::safetensors
