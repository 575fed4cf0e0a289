// Turning, shearing, zooming, mirroring and moving an image in one resampling. Basic operations of double and float
// alone, so that the bits are the same on every machine: no function of the mathematics library.
#pragma once

#include <cstdint>
#include <span>

#include "common/network/shape.h"

namespace ballast {

// The sine and cosine of an angle.
struct SineCosine {
  double sine = 0;
  double cosine = 1;
};

// Of degrees within [-360, 360]; exact at multiples of 90, elsewhere within 1e-15. The angle less its nearest multiple
// of 90 degrees, in radians, goes into Taylor's polynomials of degree 17 and 16.
SineCosine sine_cosine(double degrees);

// A pixel at p, seen from the image's centre ((width - 1) / 2, (height - 1) / 2), comes to
//
//   p' = scale * R H F p + (right, down),   F = (-1 0; 0 1) if flipped,   H = (1 shear; 0 1),
//                                           R = (cos -sin; sin cos)
//
// with x to the right and y down, so that R turns clockwise.
struct Motion {
  std::int32_t right = 0;  // pixels
  std::int32_t down = 0;
  double degrees = 0;
  double shear = 0;  // pixels to the right for each pixel down
  double scale = 1;  // above 0; above 1: what is shown becomes larger
  bool flip = false;
};

// `to` becomes `from` (channels x height x width, equal sizes, not overlapping) moved: each pixel of `to` is
// interpolated linearly between the four pixels of `from` around the place that comes to it. Places outside repeat the
// edge.
void move_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, const Motion& motion);

}  // namespace ballast
