// From the bytes of a PNG or JPEG file to a job's example.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/network/shape.h"
#include "worker/data/images/decode.h"
#include "worker/data/images/resize.h"

namespace ballast {

// `to`: planes of the shape's channels, height and width. Throws BadImage.
inline void decode_resized(std::span<const std::uint8_t> bytes, const ExampleShape& shape, std::span<std::uint8_t> to) {
  resize(with_channels(decode_image(bytes), shape.channels), shape.height, shape.width, to);
}

// "byte 20: it is cut short".
inline std::string image_fault(const BadImage& bad) { return "byte " + std::to_string(bad.byte) + ": " + bad.what(); }

}  // namespace ballast
