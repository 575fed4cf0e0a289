#include "worker/data/glyphs.h"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"
#include "worker/data/glyph_strokes.h"
#include "worker/data/normalise.h"

namespace ballast {
namespace {

using Pixels = std::array<std::uint8_t, kGlyphPixels>;

Pixels glyph(DataSplit split, std::uint32_t index) {
  Pixels pixels{};
  draw_glyph(split, index, pixels);
  return pixels;
}

DataSpec glyphs_spec(std::uint32_t train = 0, std::uint32_t test = 0) {
  DataSpec spec;
  spec.name = "glyphs";
  spec.train_examples = train;
  spec.test_examples = test;
  return spec;
}

TEST_CASE("glyphs have the same bytes on every machine") {
  Sha256 digest;
  for (std::uint32_t index = 0; index < 200; ++index) {
    const Pixels train = glyph(DataSplit::train, index * 97);
    const Pixels test = glyph(DataSplit::test, index * 19);
    digest.update(std::as_bytes(std::span(train))).update(std::as_bytes(std::span(test)));
  }
  // Taken from x86-64, gcc 12. A change of the generator needs another kGlyphsVersion and another value here.
  CHECK(digest.hex() == "89b8b11fadfcc792c72d2c15fcd5974f96a56a53c6c400eeeabef005191d7336");
  CHECK(kGlyphsVersion == 1);
}

TEST_CASE("examples differ from one another and between splits") {
  std::set<Pixels> seen;
  for (std::uint32_t index = 0; index < 300; ++index) {
    seen.insert(glyph(DataSplit::train, index));
    seen.insert(glyph(DataSplit::test, index));
  }
  CHECK(seen.size() == 600);
}

TEST_CASE("every glyph holds ink, and few touch the frame") {
  constexpr int kGlyphs = 2000;
  int cut = 0;
  for (std::uint32_t index = 0; index < kGlyphs; ++index) {
    const Pixels pixels = glyph(DataSplit::train, index);
    int ink = 0;
    int border = 0;
    for (std::size_t i = 0; i < kGlyphPixels; ++i) {
      const bool dark = pixels[i] > 127;
      const std::size_t row = i / kGlyphSide;
      const std::size_t column = i % kGlyphSide;
      ink += dark ? 1 : 0;
      border += dark && (row == 0 || column == 0 || row == kGlyphSide - 1 || column == kGlyphSide - 1) ? 1 : 0;
    }
    CHECK(ink > 8);
    CHECK(ink < 350);
    cut += border > 2 ? 1 : 0;
  }
  CHECK(cut < kGlyphs / 10);
}

// The mean image of each digit, from the train split, must tell far more of the test split apart than chance, one in
// ten: whatever else changes in the generator, labels and pictures belong together.
TEST_CASE("the nearest mean image finds several times more digits than chance") {
  std::array<std::array<float, kGlyphPixels>, 10> means{};
  constexpr std::uint32_t kTrain = 3000;
  for (std::uint32_t index = 0; index < kTrain; ++index) {
    const Pixels pixels = glyph(DataSplit::train, index);
    for (std::size_t i = 0; i < kGlyphPixels; ++i) {
      means[glyph_label(index)][i] += static_cast<float>(pixels[i]) * 10.0F / kTrain;
    }
  }
  int right = 0;
  constexpr int kTest = 1000;
  for (std::uint32_t index = 0; index < kTest; ++index) {
    const Pixels pixels = glyph(DataSplit::test, index);
    std::uint32_t best = 0;
    float nearest = 1e30F;
    for (std::uint32_t digit = 0; digit < 10; ++digit) {
      float distance = 0;
      for (std::size_t i = 0; i < kGlyphPixels; ++i) {
        const float difference = static_cast<float>(pixels[i]) - means[digit][i];
        distance += difference * difference;
      }
      if (distance < nearest) {
        nearest = distance;
        best = digit;
      }
    }
    right += best == glyph_label(index) ? 1 : 0;
  }
  CHECK(right > kTest * 3 / 10);
  CHECK(right < kTest * 95 / 100);  // nor is it a task that needs no learning
}

TEST_CASE("every digit has strokes within its box") {
  for (std::uint32_t digit = 0; digit < 10; ++digit) {
    CHECK_FALSE(glyph_shapes(digit).empty());
    for (const GlyphShape& shape : glyph_shapes(digit)) {
      CHECK_FALSE(shape.strokes.empty());
      for (const GlyphStroke& stroke : shape.strokes) {
        REQUIRE(stroke.points.size() >= 2);
        for (const GlyphPoint& point : stroke.points) {
          CHECK(point.x >= 0.0F);
          CHECK(point.x <= 1.0F);
          CHECK(point.y >= 0.0F);
          CHECK(point.y <= 1.0F);
        }
      }
    }
  }
}

const Normalisation digit_normalisation(std::vector<double>{0.1307}, std::vector<double>{0.3081});

TEST_CASE("the data set holds the generator's glyphs, normalised, at every reading") {
  const auto dataset = open_dataset(glyphs_spec(100, 50), "");
  CHECK(dataset->size(DataSplit::train) == 100);
  CHECK(dataset->size(DataSplit::test) == 50);
  CHECK(dataset->shape().features() == kGlyphPixels);
  std::vector<float> expected(kGlyphPixels);
  for (const DataSplit split : {DataSplit::train, DataSplit::test}) {
    for (const std::uint32_t index : {0U, 49U, 0U, 7U, 49U}) {
      digit_normalisation.apply(glyph(split, index), expected);
      const auto one = read_examples(*dataset, split, index, 1);
      CHECK(one.labels[0] == static_cast<std::int32_t>(index % 10));
      CHECK(one.features == expected);
    }
  }
}

TEST_CASE("zero examples mean the defaults; glyphs beyond the cache are drawn at each reading") {
  CHECK(open_dataset(glyphs_spec(), "")->size(DataSplit::train) == 20000);
  CHECK(open_dataset(glyphs_spec(), "")->size(DataSplit::test) == 4000);
  const auto large = open_dataset(glyphs_spec(1U << 24U, 0), "");
  std::vector<float> expected(kGlyphPixels);
  const std::uint32_t last = (1U << 24U) - 1;
  digit_normalisation.apply(glyph(DataSplit::train, last), expected);
  for (int reading = 0; reading < 2; ++reading) {
    const auto one = read_examples(*large, DataSplit::train, last, 1);
    CHECK(one.labels[0] == static_cast<std::int32_t>(glyph_label(last)));
    CHECK(one.features == expected);
  }
  CHECK_THROWS_AS(open_dataset(glyphs_spec((1U << 24U) + 1, 0), ""), std::runtime_error);
}

TEST_CASE("the digest tells the settings apart") {
  const std::string digest = open_dataset(glyphs_spec(100, 50), "")->digest();
  CHECK(digest == open_dataset(glyphs_spec(100, 50), "")->digest());
  CHECK(digest != open_dataset(glyphs_spec(101, 50), "")->digest());
  CHECK(digest != open_dataset(glyphs_spec(100, 51), "")->digest());
}

TEST_CASE("threads that read the same glyphs at once all get them whole") {
  const auto dataset = open_dataset(glyphs_spec(300, 10), "");
  constexpr std::size_t kThreads = 4;
  std::array<std::string, kThreads> digests;
  {
    std::vector<std::jthread> threads;
    for (std::string& digest : digests) {
      threads.emplace_back([&dataset, &digest] {
        Sha256 sum;
        const auto examples = read_examples(*dataset, DataSplit::train, 0, 300);
        sum.update(std::as_bytes(std::span(examples.features)));
        digest = sum.hex();
      });
    }
  }
  for (const std::string& digest : digests) {
    CHECK(digest == digests[0]);
  }
}

}  // namespace
}  // namespace ballast
