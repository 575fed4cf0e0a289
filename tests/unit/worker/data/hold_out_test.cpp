#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/job/steps.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"
#include "worker/data/pipeline.h"

namespace ballast {
namespace {

using namespace testing;

// Example i of the train split is (i), of the test split (-1 - i).
class NumberedExamples : public Dataset {
 public:
  explicit NumberedExamples(std::uint32_t train) : train_(train) {}
  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    return split == DataSplit::train ? train_ : split == DataSplit::test ? 5 : 0;
  }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    REQUIRE(split != DataSplit::validation);
    REQUIRE(index < size(split));
    room.features[0] = split == DataSplit::train ? static_cast<float>(index) : -1.0F - static_cast<float>(index);
    room.labels[0] = static_cast<std::int32_t>(index % 10);
  }
  [[nodiscard]] std::int32_t label(DataSplit split, std::uint32_t index) const override {
    REQUIRE(split != DataSplit::validation);
    return static_cast<std::int32_t>(index % 10);
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return "numbered"; }
  [[nodiscard]] std::uint64_t corrupt() const override { return 3; }

 private:
  std::uint32_t train_;
  ExampleShape shape_{1, 1, 1, 10};
};

std::vector<float> all_of(const Dataset& dataset, DataSplit split) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < dataset.size(split); ++i) {
    const auto one = read_examples(dataset, split, i, 1);
    values.push_back(one.features[0]);
    const auto label = one.labels[0];
    CHECK(label == static_cast<std::int32_t>(split == DataSplit::validation ? (i + dataset.size(DataSplit::train)) % 10
                                                                            : i % 10));
    CHECK(dataset.label(split, i) == label);
  }
  return values;
}

std::vector<float> numbers(std::uint32_t begin, std::uint32_t end) {
  std::vector<float> values;
  for (auto i = begin; i < end; ++i) {
    values.push_back(static_cast<float>(i));
  }
  return values;
}

TEST_CASE("the last examples of the train split are held out, and nothing else changes") {
  const auto dataset = hold_out(std::make_unique<NumberedExamples>(50), 12);
  CHECK(all_of(*dataset, DataSplit::train) == numbers(0, 38));
  CHECK(all_of(*dataset, DataSplit::validation) == numbers(38, 50));
  CHECK(all_of(*dataset, DataSplit::test) == std::vector<float>{-1, -2, -3, -4, -5});
  CHECK(dataset->digest() == "numbered");
  CHECK(dataset->corrupt() == 3);
  CHECK(dataset->shape().features() == 1);
}

TEST_CASE("what epochs read is exactly the train part, each example once an epoch") {
  for (const std::uint32_t held_out : {1U, 12U, 49U}) {
    const auto dataset = hold_out(std::make_unique<NumberedExamples>(50), held_out);
    TrainingSpec training;
    training.batch = 16;
    training.slots = 4;
    training.epochs = 3;
    Pipeline pipeline(*dataset, training);
    const auto plan = plan_steps(training, dataset->size(DataSplit::train));
    std::vector<std::vector<float>> epochs(3);
    for (std::uint64_t step = 0; step < plan.steps; ++step) {
      pipeline.prefetch(step, std::vector<std::uint32_t>{0, 2});
      for (std::uint32_t slot = 0; slot < training.slots; ++slot) {
        const auto taken = pipeline.take(step, slot);
        auto& epoch = epochs[step / plan.steps_per_epoch];
        epoch.insert(epoch.end(), taken.features.begin(), taken.features.end());
      }
    }
    for (auto& epoch : epochs) {
      std::ranges::sort(epoch);
      CHECK(epoch == numbers(0, 50 - held_out));
    }
  }
}

TEST_CASE("glyphs held out are those of the whole train split, drawn alike") {
  DataSpec spec;
  spec.name = "glyphs";
  spec.train_examples = 40;
  spec.test_examples = 10;
  const auto whole = open_dataset(spec, "");
  CHECK(whole->size(DataSplit::validation) == 0);
  spec.validation_examples = 15;
  const auto held = open_dataset(spec, "");
  CHECK(held->size(DataSplit::train) == 25);
  CHECK(held->size(DataSplit::validation) == 15);
  CHECK(held->size(DataSplit::test) == 10);
  CHECK(held->digest() == whole->digest());
  const auto found = read_examples(*held, DataSplit::validation, 0, 15);
  const auto expected = read_examples(*whole, DataSplit::train, 25, 15);
  CHECK(found.labels == expected.labels);
  CHECK(found.features == expected.features);
}

TEST_CASE("validation must leave something to train on") {
  CHECK_THROWS_AS(hold_out(std::make_unique<NumberedExamples>(50), 50), std::runtime_error);
  CHECK(contains(error_of([] { hold_out(std::make_unique<NumberedExamples>(50), 51); }),
                 "data.validation_examples is 51, but the train split has 50 examples"));
}

}  // namespace
}  // namespace ballast
