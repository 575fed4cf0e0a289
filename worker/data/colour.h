// Brightness, contrast and saturation of an image.
#pragma once

#include <span>

#include "common/network/shape.h"
#include "worker/data/normalise.h"

namespace ballast {

// Factors: 1 changes nothing.
struct Colour {
  float brightness = 1;
  float contrast = 1;
  float saturation = 1;
};

// Changes a normalised image (planes, one a channel: 1 or 3). With x in [0, 1] as before the normalisation, luma
// L = 0.299 red + 0.587 green + 0.114 blue (of grey: x itself) and each result cut to [0, 1], in this order, where a
// factor f is not 1:
//   brightness   x <- f x
//   contrast     x <- f x + (1 - f) M, where M is the mean of L over the image, summed in double, row by row
//   saturation   x <- f x + (1 - f) L of the same pixel
void change_colours(std::span<float> image, const ExampleShape& shape, const Colour& colour,
                    const Normalisation& normalisation);

}  // namespace ballast
