// glyph-sheet train|test FIRST COLUMNS ROWS > SHEET.pgm: draws glyphs FIRST, FIRST + 1, ... in rows, for the eye.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "worker/data/glyphs.h"

namespace {

int usage() {
  std::fputs("usage: glyph-sheet train|test FIRST COLUMNS ROWS > SHEET.pgm (COLUMNS, ROWS: 1 to 100)\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace ballast;
  if (argc != 5 || (std::string(argv[1]) != "train" && std::string(argv[1]) != "test")) {
    return usage();
  }
  const DataSplit split = std::string(argv[1]) == "train" ? DataSplit::train : DataSplit::test;
  const auto first = static_cast<std::uint32_t>(std::stoul(argv[2]));
  const std::size_t columns = std::stoul(argv[3]);
  const std::size_t rows = std::stoul(argv[4]);
  if (columns < 1 || columns > 100 || rows < 1 || rows > 100) {
    return usage();
  }
  std::vector<std::uint8_t> sheet(columns * rows * kGlyphPixels);
  for (std::size_t i = 0; i < columns * rows; ++i) {
    std::array<std::uint8_t, kGlyphPixels> glyph{};
    draw_glyph(split, first + static_cast<std::uint32_t>(i), glyph);
    for (std::size_t pixel = 0; pixel < kGlyphPixels; ++pixel) {
      const std::size_t row = i / columns * kGlyphSide + pixel / kGlyphSide;
      sheet[row * columns * kGlyphSide + i % columns * kGlyphSide + pixel % kGlyphSide] = glyph[pixel];
    }
  }
  std::printf("P5\n%zu %zu\n255\n", columns * kGlyphSide, rows * kGlyphSide);
  const bool written = std::fwrite(sheet.data(), 1, sheet.size(), stdout) == sheet.size() && std::fflush(stdout) == 0;
  return written ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception&) {
  return usage();
}
