#include "worker/data/images/decode.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ballast {
namespace {

constexpr std::array<std::uint8_t, 8> kPngMagic = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr std::array<std::uint8_t, 3> kJpegMagic = {0xFF, 0xD8, 0xFF};

template <std::size_t N>
bool begins_with(std::span<const std::uint8_t> bytes, const std::array<std::uint8_t, N>& magic) {
  return bytes.size() >= N && std::ranges::equal(bytes.first(N), magic);
}

std::uint8_t luma(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return static_cast<std::uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16U);
}

}  // namespace

bool is_image(std::span<const std::uint8_t> bytes) {
  return begins_with(bytes, kPngMagic) || begins_with(bytes, kJpegMagic);
}

Image decode_image(std::span<const std::uint8_t> bytes) {
  if (begins_with(bytes, kPngMagic)) {
    return decode_png(bytes);
  }
  if (begins_with(bytes, kJpegMagic)) {
    return decode_jpeg(bytes);
  }
  throw BadImage(0, bytes.empty() ? "the file is empty" : "the file is neither a PNG nor a JPEG");
}

Image with_channels(Image image, std::uint32_t channels) {
  if (image.channels == channels) {
    return image;
  }
  const std::size_t pixels = std::size_t{image.height} * image.width;
  Image other{channels, image.height, image.width, std::vector<std::uint8_t>(pixels * channels)};
  for (std::size_t i = 0; i < pixels; ++i) {
    if (channels == 1) {
      const auto* from = &image.pixels[3 * i];
      other.pixels[i] = luma(from[0], from[1], from[2]);
    } else {
      std::fill_n(&other.pixels[3 * i], 3, image.pixels[i]);
    }
  }
  return other;
}

}  // namespace ballast
