#include <stdexcept>
#include <string>
#include <utility>

#include "worker/data/datasets.h"

namespace ballast {
namespace {

class HeldOut : public Dataset {
 public:
  HeldOut(std::unique_ptr<Dataset> whole, std::uint32_t examples)
      : whole_(std::move(whole)), train_(whole_->size(DataSplit::train) - examples), validation_(examples) {}

  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    switch (split) {
      case DataSplit::train:
        return train_;
      case DataSplit::validation:
        return validation_;
      case DataSplit::test:
        break;
    }
    return whole_->size(split);
  }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    whole_->read(split_of(split), place_of(split, index), room);
  }
  [[nodiscard]] std::string source(DataSplit split, std::uint32_t index) const override {
    return whole_->source(split_of(split), place_of(split, index));
  }
  [[nodiscard]] std::string fault(DataSplit split, std::uint32_t index) const override {
    return whole_->fault(split_of(split), place_of(split, index));
  }
  [[nodiscard]] std::int32_t label(DataSplit split, std::uint32_t index) const override {
    return whole_->label(split_of(split), place_of(split, index));
  }
  [[nodiscard]] const ExampleShape& shape() const override { return whole_->shape(); }
  // The job's digest tells where the cut is.
  [[nodiscard]] std::string digest() const override { return whole_->digest(); }
  [[nodiscard]] std::uint64_t corrupt() const override { return whole_->corrupt(); }

 private:
  // Where in the whole set an example stands.
  static DataSplit split_of(DataSplit split) { return split == DataSplit::validation ? DataSplit::train : split; }
  [[nodiscard]] std::uint32_t place_of(DataSplit split, std::uint32_t index) const {
    return split == DataSplit::validation ? train_ + index : index;
  }

  std::unique_ptr<Dataset> whole_;
  std::uint32_t train_;
  std::uint32_t validation_;
};

}  // namespace

std::unique_ptr<Dataset> hold_out(std::unique_ptr<Dataset> dataset, std::uint32_t examples) {
  const std::uint32_t held = dataset->size(DataSplit::train);
  if (examples >= held) {
    throw std::runtime_error("data.validation_examples is " + std::to_string(examples) + ", but the train split has " +
                             std::to_string(held) + " examples, and some must be left to train on; lower it");
  }
  return std::make_unique<HeldOut>(std::move(dataset), examples);
}

}  // namespace ballast
