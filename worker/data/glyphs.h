// The embedded data set: hand-written digits drawn by a program, so that a job with real learning in it needs no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "worker/data/dataset.h"

namespace ballast {

inline constexpr std::size_t kGlyphSide = 28;
inline constexpr std::size_t kGlyphPixels = kGlyphSide * kGlyphSide;

// Goes up whenever any glyph's bytes change: it is part of the data set's digest.
inline constexpr std::uint32_t kGlyphsVersion = 1;

// The digit of example `index`, 0 to 9: every ten neighbours hold each digit once.
std::uint32_t glyph_label(std::uint32_t index);

// Draws example `index` of `split`, train or test (what is held out for validation is drawn for train): 28 x 28 grey
// values, row-major, ink 255 on ground 0. A function of its arguments alone: one of several ways of writing the digit,
// bent by a smooth random field (in the spirit of P. Simard, D. Steinkraus and J. Platt, "Best Practices for
// Convolutional Neural Networks Applied to Visual Document Analysis", ICDAR 2003), then scaled, sheared, rotated,
// moved, and inked with a pen of random width, pressure and noise. Uses additions, multiplications, divisions and
// square roots only, each rounded as IEEE 754 says, so every machine draws the same bytes. Thread-safe.
void draw_glyph(DataSplit split, std::uint32_t index, std::span<std::uint8_t, kGlyphPixels> pixels);

}  // namespace ballast
