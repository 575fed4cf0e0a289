#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/job/model_parameters.h"
#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"
#include "worker/data/glyphs.h"
#include "worker/data/normalise.h"

namespace ballast {
namespace {

constexpr std::uint32_t kMostExamples = 1U << 24U;  // of a split: an epoch's order of them takes 64 MiB
constexpr std::uint32_t kMostCached = 1U << 17U;    // glyphs of a split kept after they were first drawn; 98 MiB
constexpr std::uint32_t kProbe = 16;                // glyphs of each split that the digest draws

using Pixels = std::array<std::uint8_t, kGlyphPixels>;

// Glyphs drawn at their first use and kept, as 8-bit grey. Thread-safe without locks: whoever claims an empty place
// draws into it, whoever meets a place being drawn draws for itself.
class Cache {
 public:
  Cache(DataSplit split, std::uint32_t count)
      : split_(split),
        count_(std::min(count, kMostCached)),
        states_(std::make_unique<std::atomic<State>[]>(count_)),
        pixels_(std::make_unique_for_overwrite<Pixels[]>(count_)) {}

  // Writes the normalised glyph.
  void read(std::uint32_t index, std::span<float> features) {
    if (index < count_) {
      std::atomic<State>& state = states_[index];
      State expected = State::empty;
      if (state.compare_exchange_strong(expected, State::drawing, std::memory_order_acquire)) {
        draw_glyph(split_, index, pixels_[index]);
        state.store(expected = State::drawn, std::memory_order_release);
      }
      if (expected == State::drawn) {
        normalise(pixels_[index], features);
        return;
      }
    }
    Pixels own{};
    draw_glyph(split_, index, own);
    normalise(own, features);
  }

 private:
  enum class State : std::uint8_t { empty, drawing, drawn };

  const DataSplit split_;
  const std::uint32_t count_;
  std::unique_ptr<std::atomic<State>[]> states_;
  std::unique_ptr<Pixels[]> pixels_;
};

class Glyphs : public Dataset {
 public:
  Glyphs(const SplitSizes& sizes, const ExampleShape& shape)
      : sizes_(sizes), train_(DataSplit::train, sizes.train), test_(DataSplit::test, sizes.test), shape_(shape) {}

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
    (split == DataSplit::train ? train_ : test_).read(index, room.features);
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
  mutable Cache train_;
  mutable Cache test_;
  ExampleShape shape_;
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
  return std::make_unique<Glyphs>(sizes, example_shape(spec));
}

}  // namespace ballast
