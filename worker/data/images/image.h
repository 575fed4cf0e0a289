// Pictures of 8 bits a channel, and what is wrong with those that cannot be decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ballast {

// Row by row, the channels of a pixel side by side.
struct Image {
  std::uint32_t channels = 0;  // 1: grey, 3: red, green, blue
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::uint8_t> pixels;  // height x width x channels

  [[nodiscard]] std::size_t row_bytes() const { return std::size_t{width} * channels; }
};

// An image that cannot be decoded: what() says why, `byte` where in it reading stopped.
struct BadImage : std::runtime_error {
  BadImage(std::uint64_t at, const std::string& why) : std::runtime_error(why), byte(at) {}
  std::uint64_t byte;
};

}  // namespace ballast
