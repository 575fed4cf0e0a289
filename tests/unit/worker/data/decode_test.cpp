#include "worker/data/images/decode.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "tests/unit/worker/data/pictures.h"
#include "worker/data/images/resize.h"

namespace ballast {
namespace {

using namespace testing;

// Why an image is bad, with the byte; empty if it is not.
std::string fault_of(const Bytes& bytes) {
  try {
    decode_image(bytes);
  } catch (const BadImage& bad) {
    return std::to_string(bad.byte) + ": " + bad.what();
  }
  return {};
}

TEST_CASE("a png is decoded to the pixels that it was made of") {
  for (const std::uint32_t channels : {1U, 3U}) {
    for (const auto& [height, width] : {std::pair(1U, 1U), std::pair(5U, 3U), std::pair(40U, 71U)}) {
      const auto image = picture(channels, height, width);
      const auto decoded = decode_image(png(image));
      CHECK(decoded.channels == channels);
      CHECK(decoded.height == height);
      CHECK(decoded.width == width);
      CHECK(decoded.pixels == image.pixels);
    }
  }
}

TEST_CASE("a jpeg is decoded to nearly the pixels that it was made of, and always to the same") {
  for (const std::uint32_t channels : {1U, 3U}) {
    Image image = picture(channels, 33, 50);
    for (auto& pixel : image.pixels) {
      pixel = 90;  // of one colour nothing is lost but rounding
    }
    const auto decoded = decode_image(jpeg(image));
    CHECK(decoded.channels == channels);
    REQUIRE(decoded.pixels.size() == image.pixels.size());
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      REQUIRE(std::abs(decoded.pixels[i] - image.pixels[i]) <= 2);
    }
    CHECK(decode_image(jpeg(image)).pixels == decoded.pixels);
  }
}

TEST_CASE("an image that is cut short anywhere is bad, and where it ends is told") {
  for (const auto& whole : {png(picture(3, 9, 7)), jpeg(picture(3, 20, 20))}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(length);
      const auto fault = fault_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
      REQUIRE(!fault.empty());
      if (length > 8) {
        CHECK(fault.starts_with(std::to_string(length) + ": "));
      }
    }
    CHECK(fault_of(whole).empty());
  }
}

TEST_CASE("a png with any wrong byte of its pixels is bad: checksums tell") {
  const auto whole = png(picture(1, 12, 12));
  const auto data = std::search(whole.begin(), whole.end(), std::begin("IDAT"), std::end("IDAT") - 1);
  REQUIRE(data != whole.end());
  for (auto at = data - whole.begin() + 4; at < static_cast<std::ptrdiff_t>(whole.size()) - 12; ++at) {
    auto bytes = whole;
    bytes[static_cast<std::size_t>(at)] ^= 0x10U;
    CAPTURE(at);
    CHECK(contains(fault_of(bytes), "PNG is damaged"));
  }
}

TEST_CASE("what is neither png nor jpeg is bad") {
  CHECK(fault_of({}) == "0: the file is empty");
  CHECK(fault_of({'G', 'I', 'F', '8', '9', 'a'}) == "0: the file is neither a PNG nor a JPEG");
}

TEST_CASE("an image that claims to be huge is refused without taking memory for it") {
  auto bytes = png(picture(1, 4, 4));
  bytes[16] = 0x7F;  // of the width
  CHECK(!fault_of(bytes).empty());
}

TEST_CASE("colour becomes grey by its luma, and grey becomes colour by repetition") {
  const Image colours{3, 1, 4, {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}};
  CHECK(with_channels(colours, 1).pixels == Bytes{76, 150, 29, 255});
  const Image grey{1, 1, 2, {3, 200}};
  CHECK(with_channels(grey, 3).pixels == Bytes{3, 3, 3, 200, 200, 200});
  CHECK(with_channels(colours, 3).pixels == colours.pixels);
}

// The rule of resize.h in double, pixel by pixel.
double weight_of(std::uint32_t from, std::uint32_t to, std::uint32_t i, std::uint32_t j) {
  if (to == from) {
    return i == j ? 1 : 0;
  }
  const double scale = static_cast<double>(from) / to;
  if (to < from) {
    return std::max(0.0, std::min((i + 1) * scale, j + 1.0) - std::max(i * scale, static_cast<double>(j))) / scale;
  }
  const double place = std::clamp((i + 0.5) * scale - 0.5, 0.0, from - 1.0);
  return std::max(0.0, 1 - std::abs(place - j));
}

TEST_CASE("resizing averages areas where it shrinks and interpolates where it grows") {
  const std::array<std::array<std::uint32_t, 4>, 9> sizes = {{{1, 1, 5, 7},
                                                              {5, 7, 1, 1},
                                                              {28, 28, 14, 14},
                                                              {9, 13, 9, 13},
                                                              {9, 13, 4, 29},
                                                              {31, 8, 30, 9},
                                                              {7, 3, 8, 2},
                                                              {2, 2, 64, 3},
                                                              {100, 41, 28, 28}}};
  for (const auto& [from_height, from_width, height, width] : sizes) {
    for (const std::uint32_t channels : {1U, 3U}) {
      const auto image = picture(channels, from_height, from_width, 5);
      Bytes resized(std::size_t{channels} * height * width);
      resize(image, height, width, resized);
      for (std::uint32_t channel = 0; channel < channels; ++channel) {
        for (std::uint32_t y = 0; y < height; ++y) {
          for (std::uint32_t x = 0; x < width; ++x) {
            double sum = 0;
            for (std::uint32_t v = 0; v < from_height; ++v) {
              for (std::uint32_t u = 0; u < from_width; ++u) {
                sum += weight_of(from_height, height, y, v) * weight_of(from_width, width, x, u) *
                       image.pixels[(v * from_width + u) * channels + channel];
              }
            }
            REQUIRE(std::abs(resized[(channel * height + y) * width + x] - sum) <= 0.5 + 1e-9);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ballast
