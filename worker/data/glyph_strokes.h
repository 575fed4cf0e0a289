// How each digit is written: the ideal strokes that the generator then distorts.
#pragma once

#include <cstdint>
#include <span>

namespace ballast {

// In a box of 1 x 1: x to the right, y downwards.
struct GlyphPoint {
  float x = 0;
  float y = 0;
};

// A smooth curve through its points (one point more than spans). Two points make a straight line; strokes that share an
// end meet in a corner.
struct GlyphStroke {
  std::span<const GlyphPoint> points;
};

// One way of writing a digit.
struct GlyphShape {
  std::span<const GlyphStroke> strokes;
};

// The ways of writing `digit`, 0 to 9; at least one.
std::span<const GlyphShape> glyph_shapes(std::uint32_t digit);

}  // namespace ballast
