// From 8-bit grey to what models are fed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ballast {

// MNIST's usual normalisation, in float: (x / 255 - 0.1307) / 0.3081, with the training split's mean and deviation.
constexpr float normalise(std::uint8_t pixel) { return (static_cast<float>(pixel) / 255.0F - 0.1307F) / 0.3081F; }

// features[i] = normalise(pixels[i]); both have the same size.
inline void normalise(std::span<const std::uint8_t> pixels, std::span<float> features) {
  static constexpr auto kTable = [] {
    std::array<float, 256> table{};
    for (std::size_t value = 0; value < table.size(); ++value) {
      table[value] = normalise(static_cast<std::uint8_t>(value));
    }
    return table;
  }();
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    features[i] = kTable[pixels[i]];
  }
}

}  // namespace ballast
