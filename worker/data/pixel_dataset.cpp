#include "worker/data/pixel_dataset.h"

#include <span>
#include <stdexcept>
#include <utility>

#include "common/numeric/sha256.h"

namespace ballast {
namespace {

class PixelDataset : public Dataset {
 public:
  PixelDataset(const std::string& kind, PixelSplit train, PixelSplit test, const ExampleShape& shape,
               Normalisation normalisation)
      : train_(std::move(train)), test_(std::move(test)), shape_(shape), normalisation_(std::move(normalisation)) {
    Sha256 digest;
    for (const PixelSplit* split : {&train_, &test_}) {
      digest.update(kind + " " + std::to_string(split->count()) + "\n");
      digest.update(std::as_bytes(std::span(split->pixels))).update(std::as_bytes(std::span(split->labels)));
    }
    digest_ = digest.hex();
  }

  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    return split == DataSplit::validation ? 0 : of(split).count();
  }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    const auto features = shape_.features();
    normalisation_.apply(std::span(of(split).pixels).subspan(index * features, features), room.features);
    room.labels[0] = label(split, index);
  }
  [[nodiscard]] std::int32_t label(DataSplit split, std::uint32_t index) const override {
    return of(split).labels[index];
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return digest_; }

 private:
  [[nodiscard]] const PixelSplit& of(DataSplit split) const { return split == DataSplit::train ? train_ : test_; }

  PixelSplit train_;
  PixelSplit test_;
  ExampleShape shape_;
  Normalisation normalisation_;
  std::string digest_;
};

}  // namespace

void keep_first(PixelSplit& split, std::uint32_t examples, const std::string& key, const std::string& where) {
  if (split.count() < examples) {
    throw std::runtime_error(where + " holds " + std::to_string(split.count()) + " examples where " + key +
                             " asks for " + std::to_string(examples) + "; set " + key + " to " +
                             std::to_string(split.count()) + " or less, or name another folder");
  }
  split.pixels.resize(split.count() == 0 ? 0 : split.pixels.size() / split.count() * examples);
  split.pixels.shrink_to_fit();
  split.labels.resize(examples);
}

std::unique_ptr<Dataset> make_pixel_dataset(const std::string& kind, PixelSplit train, PixelSplit test,
                                            const ExampleShape& shape, Normalisation normalisation) {
  return std::make_unique<PixelDataset>(kind, std::move(train), std::move(test), shape, std::move(normalisation));
}

}  // namespace ballast
