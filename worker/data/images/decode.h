// From the bytes of a PNG or JPEG file to pixels. Stateless, hence thread-safe. The same bytes on every machine: libpng
// and libjpeg-turbo decode in integers, and whatever follows here is in integers too.
#pragma once

#include <cstdint>
#include <span>

#include "worker/data/images/image.h"

namespace ballast {

// Pixels of the largest image that is decoded: 96 MiB in colour.
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 25U;
// Pixels that the passes of a progressive JPEG or an interlaced PNG may come to: decoding takes bounded time.
inline constexpr std::uint64_t kMaxPassedPixels = std::uint64_t{1} << 28U;

// Decodes what the first bytes say it is. Grey stays one channel and colour three; PNGs' palettes become colours, 16
// bits are scaled to 8, and transparency is ignored. Throws BadImage: no PNG or JPEG, too large, cut short, damaged (a
// checksum or code that is wrong), or with colours that are no RGB (CMYK).
Image decode_image(std::span<const std::uint8_t> bytes);

// Whether the first bytes say that it is a PNG or JPEG.
bool is_image(std::span<const std::uint8_t> bytes);

// Each of these alone; see decode_image.
Image decode_png(std::span<const std::uint8_t> bytes);
Image decode_jpeg(std::span<const std::uint8_t> bytes);

// The image with `channels` (1 or 3) of them. Grey becomes colour by repetition. Colour becomes grey by ITU-R BT.601's
// luma in 16 bits: (19595 red + 38470 green + 7471 blue + 32768) / 65536.
Image with_channels(Image image, std::uint32_t channels);

}  // namespace ballast
