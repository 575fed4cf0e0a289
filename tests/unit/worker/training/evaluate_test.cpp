#include "worker/training/evaluate.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "common/job/job.h"
#include "common/job/load.h"
#include "protocol/ids.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/examples.h"

namespace ballast {
namespace {

using namespace testing;

// Remembers which labels and features it was shown.
class Watching : public Model {
 public:
  BatchResult train(const SlotTask&, const Batch&, const WeightArena&, std::span<float>,
                    const GradientReady&) override {
    return {};
  }
  BatchResult evaluate(const Batch& batch, const WeightArena&) override {
    features.insert(features.end(), batch.features.begin(), batch.features.end());
    labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
    return {0.5 * batch.count, batch.count / 2, batch.count};
  }
  void predict(const Batch&, const WeightArena&, std::span<float>) override {}
  [[nodiscard]] ComputeTimes last_times() const override { return {}; }

  std::vector<float> features;
  std::vector<std::int32_t> labels;
};

// Augmentation is asked for, so that a test would see it if evaluation did it.
Job glyphs_job() {
  return make_job(
      parse_job("job: test\nmodel: {name: mlp}\n"
                "data: {name: glyphs, train_examples: 300, test_examples: 130, validation_examples: 50}\n"
                "training: {batch: 16, slots: 4, epochs: 1, augment: {shift: 2}, optimizer: {name: sgd, "
                "learning_rate: 0.1}}\n",
                "the test's job"));
}

TEST_CASE("a range is evaluated in order, as it is in the data set, whatever its size") {
  const auto job = glyphs_job();
  const auto dataset = open_dataset(job.spec.data, "");
  for (const auto split : {DataSplit::validation, DataSplit::test, DataSplit::train}) {
    for (const auto [begin, end] : std::vector<SlotRange>{{0, dataset->size(split)}, {7, 8}, {13, 13}, {1, 43}}) {
      Watching model;
      const auto result = evaluate_examples(model, *dataset, split, begin, end, {}, MetricCounter({}, job.shape));
      CHECK(result.examples == end - begin);
      CHECK(result.loss_sum == 0.5 * (end - begin));
      REQUIRE(model.labels.size() == end - begin);
      for (auto i = begin; i < end; ++i) {
        const auto expected = read_examples(*dataset, split, i, 1);
        REQUIRE(expected.labels[0] == model.labels[i - begin]);
        const auto size = expected.features.size();
        const auto found = std::span(model.features).subspan((i - begin) * size, size);
        REQUIRE(std::vector<float>(found.begin(), found.end()) == expected.features);
      }
    }
  }
}

// Every third example cannot be read.
class Faulty : public Dataset {
 public:
  [[nodiscard]] std::uint32_t size(DataSplit /*split*/) const override { return 250; }
  void read(DataSplit /*split*/, std::uint32_t index, const ExampleRoom& room) const override {
    room.features[0] = static_cast<float>(index);
    room.labels[0] = label(DataSplit::test, index);
  }
  [[nodiscard]] std::string fault(DataSplit /*split*/, std::uint32_t index) const override {
    return index % 3 == 0 || index >= 200 ? "cut short" : "";
  }
  [[nodiscard]] std::int32_t label(DataSplit /*split*/, std::uint32_t index) const override {
    return static_cast<std::int32_t>(index);
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return "faulty"; }

 private:
  ExampleShape shape_{1, 1, 1, 250};
};

TEST_CASE("examples with a fault are left out and counted") {
  const Faulty dataset;
  Watching model;
  const auto result =
      evaluate_examples(model, dataset, DataSplit::test, 0, 250, {}, MetricCounter({}, dataset.shape()));
  std::vector<std::int32_t> good;
  for (std::int32_t i = 0; i < 200; ++i) {
    if (i % 3 != 0) {
      good.push_back(i);
    }
  }
  CHECK(model.labels == good);
  CHECK(result.examples == good.size());
  CHECK(result.left_out == 250 - good.size());
  CHECK(result.loss_sum == 0.5 * static_cast<double>(good.size()));
}

TEST_CASE("a range that the split does not have is refused") {
  const auto job = glyphs_job();
  const auto dataset = open_dataset(job.spec.data, "");
  Watching model;
  CHECK_THROWS_AS(evaluate_examples(model, *dataset, DataSplit::validation, 0, 51, {}, MetricCounter({}, job.shape)),
                  std::out_of_range);
  CHECK_THROWS_AS(evaluate_examples(model, *dataset, DataSplit::test, 4, 3, {}, MetricCounter({}, job.shape)),
                  std::out_of_range);
  CHECK(contains(error_of([&] {
                   evaluate_examples(model, *dataset, DataSplit::test, 100, 131, {}, MetricCounter({}, job.shape));
                 }),
                 "examples 100 to 131 are to be evaluated, but their split has 130"));
  CHECK(model.labels.empty());
}

}  // namespace
}  // namespace ballast
