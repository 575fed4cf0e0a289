#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/job/model_parameters.h"
#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"
#include "worker/data/glyphs.h"
#include "worker/data/normalise.h"
#include "worker/data/pixel_cache.h"

namespace ballast {
namespace {

constexpr std::uint32_t kMostExamples = 1U << 24U;               // of a split: an epoch's order of them takes 64 MiB
constexpr std::uint64_t kMostCached = std::uint64_t{98} << 20U;  // bytes of glyphs of a split that are kept
constexpr std::uint32_t kProbe = 16;                             // glyphs of each split that the digest draws

using Pixels = std::array<std::uint8_t, kGlyphPixels>;

class Glyphs : public Dataset {
 public:
  Glyphs(const SplitSizes& sizes, const DataSpec& spec)
      : sizes_(sizes),
        train_(sizes.train, kGlyphPixels, kMostCached),
        test_(sizes.test, kGlyphPixels, kMostCached),
        shape_(example_shape(spec)),
        normalisation_(normalisation_of(spec)) {}

  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    switch (split) {
      case DataSplit::train:
        return sizes_.train;
      case DataSplit::validation:
        return 0;
      case DataSplit::test:
        break;
    }
    return sizes_.test;
  }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    Pixels own{};
    auto& cache = split == DataSplit::train ? train_ : test_;
    const auto pixels =
        cache.get(index, own, [&](std::span<std::uint8_t> to) { draw_glyph(split, index, to.first<kGlyphPixels>()); });
    normalisation_.apply(pixels, room.features);
    room.labels[0] = static_cast<std::int32_t>(glyph_label(index));
  }
  [[nodiscard]] std::int32_t label(DataSplit, std::uint32_t index) const override {
    return static_cast<std::int32_t>(glyph_label(index));
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }

  // Of the settings and of some glyphs as this machine draws them.
  [[nodiscard]] std::string digest() const override {
    Sha256 digest;
    digest.update("glyphs " + std::to_string(kGlyphsVersion) + " " + std::to_string(sizes_.train) + " " +
                  std::to_string(sizes_.test) + "\n");
    for (const DataSplit split : {DataSplit::train, DataSplit::test}) {
      for (std::uint32_t index = 0; index < kProbe; ++index) {
        Pixels pixels{};
        draw_glyph(split, index, pixels);
        digest.update(std::as_bytes(std::span(pixels)));
      }
    }
    return digest.hex();
  }

 private:
  SplitSizes sizes_;
  mutable PixelCache train_;
  mutable PixelCache test_;
  ExampleShape shape_;
  Normalisation normalisation_;
};

}  // namespace

std::unique_ptr<Dataset> make_glyphs(const DataSpec& spec) {
  const SplitSizes sizes = whole_split_sizes(spec);
  const auto check = [](std::uint32_t size, const char* key) {
    if (size > kMostExamples) {
      throw std::runtime_error("data." + std::string(key) + " is " + std::to_string(size) +
                               ", but data set glyphs has at most " + std::to_string(kMostExamples) +
                               " examples in a split; lower it");
    }
  };
  check(sizes.train, "train_examples");
  check(sizes.test, "test_examples");
  return std::make_unique<Glyphs>(sizes, spec);
}

}  // namespace ballast
