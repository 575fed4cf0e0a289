#include <stdexcept>

#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"

namespace ballast {
namespace {

class None : public Dataset {
 public:
  None(std::uint32_t train, std::uint32_t test) : train_(train), test_(test) {}
  [[nodiscard]] std::uint32_t size(Split split) const override { return split == Split::train ? train_ : test_; }
  std::int32_t read(Split, std::uint32_t, std::span<float>) const override { return 0; }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override {
    return sha256_hex("none " + std::to_string(train_) + " " + std::to_string(test_));
  }

 private:
  std::uint32_t train_;
  std::uint32_t test_;
  ExampleShape shape_;
};

}  // namespace

std::unique_ptr<Dataset> make_none(const DataSpec& spec) {
  if (spec.train_examples == 0) {
    throw std::runtime_error("data set none: data.train_examples must say how many examples an epoch has");
  }
  return std::make_unique<None>(spec.train_examples, spec.test_examples);
}

}  // namespace ballast
