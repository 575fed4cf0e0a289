// Images of the size that a job says.
#pragma once

#include <cstdint>
#include <span>

#include "worker/data/images/image.h"

namespace ballast {

// `to` (channels x height x width: one plane a channel) becomes the image stretched to height x width. Each axis for
// itself: where it shrinks, a pixel is the mean over the area that it covers; where it grows, it is interpolated
// linearly between the centres of the two nearest pixels, the edge repeated; else it is kept. The result is the exact
// quotient, halves rounded up: integers only, so the same bytes everywhere. The image is not empty.
void resize(const Image& image, std::uint32_t height, std::uint32_t width, std::span<std::uint8_t> to);

}  // namespace ballast
