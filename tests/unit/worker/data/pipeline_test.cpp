#include "worker/data/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/job/steps.h"
#include "common/numeric/philox.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/datasets.h"
#include "worker/data/order.h"

namespace ballast {
namespace {

using namespace testing;

// Example i has features (i, -i) and label i % 10, and counts its readings. Reading can be stopped at a gate, or fail.
class Numbered : public Dataset {
 public:
  explicit Numbered(std::uint32_t examples) : examples_(examples) {}

  [[nodiscard]] std::uint32_t size(DataSplit split) const override { return split == DataSplit::train ? examples_ : 0; }
  void read(DataSplit, std::uint32_t index, const ExampleRoom& room) const override {
    const std::lock_guard pass(gate);
    ++reads;
    if (static_cast<std::int64_t>(index) == failing) {
      throw std::runtime_error("example " + std::to_string(index) + " is unreadable");
    }
    room.features[0] = static_cast<float>(index);
    room.features[1] = -room.features[0];
    room.labels[0] = static_cast<std::int32_t>(index % 10);
  }
  [[nodiscard]] std::int32_t label(DataSplit, std::uint32_t index) const override {
    return static_cast<std::int32_t>(index % 10);
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return "numbered"; }

  mutable std::mutex gate;
  mutable std::atomic<std::uint32_t> reads = 0;
  std::atomic<std::int64_t> failing = -1;

 private:
  std::uint32_t examples_;
  ExampleShape shape_{2, 1, 1, 10};
};

TrainingSpec training_spec(std::uint32_t batch, std::uint32_t slots, std::uint64_t seed = 1) {
  TrainingSpec training;
  training.batch = batch;
  training.slots = slots;
  training.seed = seed;
  training.epochs = 2;
  return training;
}

// The definition in pipeline.h, written down as plainly as possible.
std::vector<std::uint32_t> expected_indices(const TrainingSpec& training, std::uint32_t examples, std::uint64_t step,
                                            std::uint32_t slot) {
  const std::uint64_t per_epoch = plan_steps(training, examples).steps_per_epoch;
  const std::vector<std::uint32_t> order = epoch_order(training.seed, step / per_epoch, examples);
  const std::uint32_t in_step = examples_of_step(training, examples, step);
  const std::uint32_t share = training.batch / training.slots;
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = slot * share; i < std::min((slot + 1) * share, in_step); ++i) {
    indices.push_back(order[step % per_epoch * training.batch + i]);
  }
  return indices;
}

void check_slot(const SlotExamples& examples, const std::vector<std::uint32_t>& indices) {
  REQUIRE(examples.labels.size() == indices.size());
  REQUIRE(examples.features.size() == indices.size() * 2);
  CHECK(examples.batch().count == indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    CHECK(examples.features[2 * i] == static_cast<float>(indices[i]));
    CHECK(examples.features[2 * i + 1] == -static_cast<float>(indices[i]));
    CHECK(examples.labels[i] == static_cast<std::int32_t>(indices[i] % 10));
  }
}

std::vector<std::uint32_t> all_slots(const TrainingSpec& training) {
  std::vector<std::uint32_t> slots(training.slots);
  std::iota(slots.begin(), slots.end(), 0U);
  return slots;
}

TEST_CASE("an epoch's order is a permutation, its own for each epoch and seed") {
  for (const std::uint32_t examples : {0U, 1U, 2U, 3U, 1000U}) {
    std::vector<std::uint32_t> order = epoch_order(1, 0, examples);
    std::ranges::sort(order);
    std::vector<std::uint32_t> identity(examples);
    std::iota(identity.begin(), identity.end(), 0U);
    CHECK(order == identity);
  }
  CHECK(epoch_order(1, 0, 100) == epoch_order(1, 0, 100));
  CHECK(epoch_order(1, 0, 100) != epoch_order(1, 1, 100));
  CHECK(epoch_order(1, 0, 100) != epoch_order(2, 0, 100));
}

TEST_CASE("orders of three examples come up about equally often") {
  std::vector<int> seen(6);
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) {
    const std::vector<std::uint32_t> order = epoch_order(9, epoch, 3);
    seen[order[0] * 2 + (order[1] > order[2] ? 1 : 0)]++;
  }
  for (const int count : seen) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

TEST_CASE("orders handed out are those of their epochs, whoever asks in whatever sequence") {
  EpochOrders orders([](std::uint64_t epoch) { return epoch_order(3, epoch, 50); });
  for (const std::uint64_t epoch : {0U, 1U, 0U, 1U, 2U, 1U, 0U, 5U, 5U}) {
    CHECK(*orders.of(epoch) == epoch_order(3, epoch, 50));
  }
}

TEST_CASE("slots hold the order's examples: whole batches, tail batch and empty slots") {
  // 0: whole batches only; 1: a tail that ends within a slot; 2: one example left; 3: fewer examples than one slot's
  // share
  for (const std::uint32_t examples : {64U, 61U, 49U, 3U}) {
    const Numbered dataset(examples);
    const TrainingSpec training = training_spec(16, 4);
    Pipeline pipeline(dataset, training);
    const std::uint64_t steps = plan_steps(training, examples).steps;
    std::uint32_t total = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (step % 2 == 0) {
        pipeline.prefetch(step, all_slots(training));
      }
      for (std::uint32_t slot = 0; slot < training.slots; ++slot) {
        const SlotExamples taken = pipeline.take(step, slot);
        check_slot(taken, expected_indices(training, examples, step, slot));
        total += static_cast<std::uint32_t>(taken.labels.size());
      }
    }
    CHECK(total == 2 * examples);
  }
}

TEST_CASE("an epoch shows every example once, and the next one in another order") {
  const Numbered dataset(50);
  const TrainingSpec training = training_spec(16, 4);
  Pipeline pipeline(dataset, training);
  std::vector<std::vector<float>> epochs(2);
  for (std::uint64_t step = 0; step < 8; ++step) {
    for (std::uint32_t slot = 0; slot < training.slots; ++slot) {
      const SlotExamples taken = pipeline.take(step, slot);
      for (std::size_t i = 0; i < taken.labels.size(); ++i) {
        epochs[step / 4].push_back(taken.features[2 * i]);
      }
    }
  }
  CHECK(epochs[0] != epochs[1]);
  std::ranges::sort(epochs[0]);
  std::ranges::sort(epochs[1]);
  CHECK(epochs[0] == epochs[1]);
  CHECK(std::ranges::adjacent_find(epochs[0]) == epochs[0].end());
  CHECK(epochs[0].size() == 50);
}

TrainingSpec by_class(std::uint32_t batch, std::uint32_t slots) {
  TrainingSpec training = training_spec(batch, slots);
  training.mode = Mode::local;
  training.local = {1, LocalSpec::Partition::by_class, {}};
  return training;
}

TEST_CASE("examples are sorted by label, and within one as they come") {
  const std::vector<std::int32_t> labels = {2, 0, 2, 1, 0};
  CHECK(sorted_by_label(labels) == std::vector<std::uint32_t>{1, 4, 3, 0, 2});
  CHECK(sorted_by_label({}).empty());
}

TEST_CASE("by class each slot draws from its own part, all of it in each epoch, and each epoch anew") {
  // Parts of equal and of unequal sizes; tails that end within the slots' shares; fewer examples than slots.
  for (const std::uint32_t examples : {64U, 61U, 50U, 49U, 3U}) {
    const Numbered dataset(examples);
    const TrainingSpec training = by_class(16, 4);
    std::vector<std::int32_t> labels;
    for (std::uint32_t i = 0; i < examples; ++i) {
      labels.push_back(dataset.label(DataSplit::train, i));
    }
    const auto sorted = sorted_by_label(labels);
    Pipeline pipeline(dataset, training);
    const auto plan = plan_steps(training, examples);
    std::vector<std::vector<std::vector<std::uint32_t>>> drawn(2, std::vector<std::vector<std::uint32_t>>(4));
    for (std::uint64_t step = 0; step < plan.steps; ++step) {
      std::uint32_t in_step = 0;
      for (std::uint32_t slot = 0; slot < 4; ++slot) {
        const SlotExamples taken = pipeline.take(step, slot);
        in_step += taken.batch().count;
        CHECK(taken.batch().count <= 4);
        for (std::size_t i = 0; i < taken.labels.size(); ++i) {
          drawn[step / plan.steps_per_epoch][slot].push_back(static_cast<std::uint32_t>(taken.features[2 * i]));
        }
      }
      CHECK(in_step == examples_of_step(training, examples, step));
    }
    CHECK((examples < 8 || drawn[0] != drawn[1]));
    for (auto& epoch : drawn) {
      for (std::uint32_t slot = 0; slot < 4; ++slot) {
        std::vector<std::uint32_t> part(sorted.begin() + examples * slot / 4,
                                        sorted.begin() + examples * (slot + 1) / 4);
        std::ranges::sort(part);
        std::ranges::sort(epoch[slot]);
        CHECK(epoch[slot] == part);
      }
    }
  }
}

TEST_CASE("by class means nothing in other modes") {
  const Numbered dataset(61);
  TrainingSpec training = by_class(16, 4);
  training.mode = Mode::sync;
  Pipeline pipeline(dataset, training);
  check_slot(pipeline.take(1, 2), expected_indices(training, 61, 1, 2));
}

TEST_CASE("the number of slots cuts a step without changing its examples") {
  const Numbered dataset(61);
  std::vector<std::vector<float>> steps;
  for (const std::uint32_t slots : {1U, 2U, 8U, 16U}) {
    Pipeline pipeline(dataset, training_spec(16, slots));
    std::vector<float> features;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const SlotExamples taken = pipeline.take(3, slot);
      features.insert(features.end(), taken.features.begin(), taken.features.end());
    }
    steps.push_back(features);
  }
  CHECK(std::ranges::all_of(steps, [&](const auto& step) { return step == steps[0]; }));
}

TEST_CASE("hints change nothing: slots come unhinted, hinted, in any order, twice and after a rollback") {
  const Numbered dataset(200);
  const TrainingSpec training = training_spec(16, 4);
  Pipeline pipeline(dataset, training);
  const auto take = [&](std::uint64_t step, std::uint32_t slot) {
    check_slot(pipeline.take(step, slot), expected_indices(training, 200, step, slot));
  };
  pipeline.prefetch(5, std::vector<std::uint32_t>{3, 1});
  take(5, 1);
  take(5, 0);
  take(5, 3);
  take(5, 3);
  pipeline.prefetch(6, all_slots(training));
  pipeline.prefetch(6, all_slots(training));
  pipeline.prefetch(7, all_slots(training));
  take(7, 0);
  take(6, 2);
  pipeline.prefetch(2, all_slots(training));  // back: a rollback
  pipeline.prefetch(3, all_slots(training));
  take(2, 0);
  take(6, 3);
  take(3, 1);
  take(30, 1);  // another epoch
}

TEST_CASE("hinted slots are read in the background") {
  const Numbered dataset(64);
  const TrainingSpec training = training_spec(16, 4);
  Pipeline pipeline(dataset, training);
  pipeline.prefetch(0, all_slots(training));
  while (dataset.reads < 16) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    check_slot(pipeline.take(0, slot), expected_indices(training, 64, 0, slot));
  }
  CHECK(dataset.reads == 16);  // nothing was read a second time
}

TEST_CASE("whoever reads a slot says so before, once for each") {
  const Numbered dataset(64);
  const TrainingSpec training = training_spec(16, 4);
  std::atomic<std::uint64_t> told = 0;
  ReadAhead read_ahead;
  read_ahead.before_reading = [&](std::uint64_t step, std::uint32_t) { told += step; };
  Pipeline pipeline(dataset, training, read_ahead);
  pipeline.prefetch(3, std::vector<std::uint32_t>{0, 2});
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    check_slot(pipeline.take(3, slot), expected_indices(training, 64, 3, slot));
  }
  CHECK(told == 12);
}

TEST_CASE("hints of more than two steps back are dropped") {
  const Numbered dataset(160);
  const TrainingSpec training = training_spec(16, 4);
  Pipeline pipeline(dataset, training);
  {
    const std::lock_guard shut(dataset.gate);  // the reader hangs in the first example of step 0, or before
    for (std::uint64_t step = 0; step < 10; ++step) {
      pipeline.prefetch(step, all_slots(training));
    }
  }
  for (std::uint64_t step : {8U, 9U}) {
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      check_slot(pipeline.take(step, slot), expected_indices(training, 160, step, slot));
    }
  }
  CHECK(dataset.reads >= 32);
  CHECK(dataset.reads <= 36);  // both steps, and the one slot that was being read when it was dropped
  check_slot(pipeline.take(0, 0), expected_indices(training, 160, 0, 0));
}

TEST_CASE("a failing read is told by the take of its slot and by no other") {
  Numbered dataset(64);
  const TrainingSpec training = training_spec(16, 4);
  const std::uint32_t bad = expected_indices(training, 64, 0, 2)[1];
  dataset.failing = bad;
  Pipeline pipeline(dataset, training);
  pipeline.prefetch(0, all_slots(training));
  while (dataset.reads < 14) {  // two of slot 2's four examples, all of the others
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::string expected = "example " + std::to_string(bad) + " is unreadable";
  for (const std::uint32_t slot : {0U, 1U, 3U}) {
    check_slot(pipeline.take(0, slot), expected_indices(training, 64, 0, slot));
  }
  CHECK(error_of([&] { pipeline.take(0, 2); }) == expected);
  CHECK(error_of([&] { pipeline.take(0, 2); }) == expected);  // now read here
  dataset.failing = -1;
  check_slot(pipeline.take(0, 2), expected_indices(training, 64, 0, 2));
}

// Noise of 3 x 8 x 8, a function of the example; every third takes a while.
class Noise : public Dataset {
 public:
  [[nodiscard]] std::uint32_t size(DataSplit split) const override { return split == DataSplit::train ? 100 : 0; }
  void read(DataSplit, std::uint32_t index, const ExampleRoom& room) const override {
    if (index % 3 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(50 * (index % 7)));
    }
    const RandomStream random({1, Purpose::probe, index, 0});
    for (std::size_t i = 0; i < room.features.size(); ++i) {
      room.features[i] = random.uniform(i);
    }
    room.labels[0] = label(DataSplit::train, index);
  }
  [[nodiscard]] std::int32_t label(DataSplit, std::uint32_t index) const override {
    return static_cast<std::int32_t>(index % 10);
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return "noise"; }

 private:
  ExampleShape shape_{3, 8, 8, 10};
};

TEST_CASE("any number of threads gives the same bytes, augmented in every way, whatever may wait at once") {
  const Noise dataset;
  TrainingSpec training = training_spec(20, 5);
  training.augment = {.shift = 2,
                      .rotation = 20,
                      .shear = 0.2,
                      .zoom = 0.2,
                      .flip = 0.5,
                      .crop = 2,
                      .brightness = 0.3,
                      .contrast = 0.3,
                      .saturation = 0.3};
  const Normalisation normalisation(std::vector<double>(3, 0.5), std::vector<double>(3, 0.25));
  std::vector<std::vector<float>> taken;
  for (const std::uint32_t threads : {1U, 2U, 5U}) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{7000}, std::uint64_t{1} << 30U}) {
      Pipeline pipeline(dataset, training, {threads, bytes, normalisation});
      auto& features = taken.emplace_back();
      pipeline.prefetch(0, all_slots(training));
      for (std::uint64_t step = 0; step < 12; ++step) {
        pipeline.prefetch(step + 1, all_slots(training));
        for (std::uint32_t slot = 0; slot < training.slots; ++slot) {
          const SlotExamples examples = pipeline.take(step, slot);
          features.insert(features.end(), examples.features.begin(), examples.features.end());
        }
      }
    }
  }
  CHECK(taken[0].size() == std::size_t{12} * 20 * 192);
  CHECK(std::ranges::all_of(taken, [&](const auto& features) { return features == taken[0]; }));
}

TEST_CASE("slots are read ahead only as far as the bytes allow, and further when one is taken") {
  const Numbered dataset(64);
  const TrainingSpec training = training_spec(16, 4);
  // A slot's four examples take 4 x (2 features + 10 classes + 4) x 4 bytes by the bound's count.
  Pipeline pipeline(dataset, training, {.threads = 3, .bytes = 2 * 256});
  pipeline.prefetch(0, all_slots(training));
  while (dataset.reads < 8) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(dataset.reads == 8);
  check_slot(pipeline.take(0, 0), expected_indices(training, 64, 0, 0));
  while (dataset.reads < 12) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  check_slot(pipeline.take(0, 3), expected_indices(training, 64, 0, 3));  // beyond the bound: read here
  check_slot(pipeline.take(0, 1), expected_indices(training, 64, 0, 1));
  check_slot(pipeline.take(0, 2), expected_indices(training, 64, 0, 2));
}

TEST_CASE("a pipeline ends cleanly with hints unread or in the reading") {
  for (int life = 0; life < 50; ++life) {
    const Numbered dataset(1000);
    const TrainingSpec training = training_spec(500, 4);
    Pipeline pipeline(dataset, training);
    pipeline.prefetch(0, all_slots(training));
    if (life % 2 == 0) {
      pipeline.take(0, static_cast<std::uint32_t>(life) % 4);
    }
  }
}

TEST_CASE("jobs that cannot be cut are refused") {
  const Numbered dataset(64);
  const Numbered empty(0);
  CHECK_THROWS_AS(Pipeline(dataset, training_spec(16, 0)), std::invalid_argument);
  CHECK_THROWS_AS(Pipeline(dataset, training_spec(0, 4)), std::invalid_argument);
  CHECK_THROWS_AS(Pipeline(dataset, training_spec(18, 4)), std::invalid_argument);
  CHECK_THROWS_AS(Pipeline(empty, training_spec(16, 4)), std::invalid_argument);
  Pipeline pipeline(dataset, training_spec(16, 4));
  CHECK_THROWS_AS(pipeline.take(0, 4), std::out_of_range);
  pipeline.prefetch(0, std::vector<std::uint32_t>{4, 0});  // a hint is only a hint
  CHECK(pipeline.take(0, 0).labels.size() == 4);
}

TEST_CASE("data without features have the right number of labels") {
  DataSpec spec;
  spec.name = "none";
  spec.train_examples = 4000000000U;  // no order of these is ever laid out
  const auto dataset = open_dataset(spec, "");
  const TrainingSpec training = training_spec(32, 4);
  Pipeline pipeline(*dataset, training);
  pipeline.prefetch(7, all_slots(training));
  const SlotExamples taken = pipeline.take(7, 2);
  CHECK(taken.features.empty());
  CHECK(taken.labels == std::vector<std::int32_t>(8, 0));
}

}  // namespace
}  // namespace ballast
