#include "common/job/steps.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

namespace ballast {
namespace {

SplitSizes sizes(const char* name, std::uint32_t train, std::uint32_t test) {
  DataSpec data;
  data.name = name;
  data.train_examples = train;
  data.test_examples = test;
  return split_sizes(data);
}

void check(SplitSizes got, std::uint32_t train, std::uint32_t test) {
  CHECK(got.train == train);
  CHECK(got.test == test);
}

TEST_CASE("the sizes of splits") {
  check(sizes("mnist", 0, 0), 60000, 10000);
  check(sizes("mnist", 100, 10), 100, 10);
  check(sizes("mnist", 60000, 10000), 60000, 10000);
  check(sizes("glyphs", 0, 0), 20000, 4000);
  check(sizes("glyphs", 50000, 1), 50000, 1);
  check(sizes("none", 0, 0), 1000000, 0);
  check(sizes("none", 512, 0), 512, 0);
}

TEST_CASE("examples held out are taken from the train split's end") {
  DataSpec data;
  data.name = "glyphs";
  data.train_examples = 1000;
  data.validation_examples = 200;
  SplitSizes got = split_sizes(data);
  check(got, 800, 4000);
  CHECK(got.validation == 200);
  data.train_examples = 0;
  check(split_sizes(data), 19800, 4000);
  data.validation_examples = 30000;  // refused in job files; never more than there are
  got = split_sizes(data);
  CHECK(got.train == 0);
  CHECK(got.validation == 20000);
}

TrainingSpec training_of(std::optional<std::uint32_t> epochs, std::optional<std::uint64_t> max_steps) {
  TrainingSpec training;
  training.batch = 128;
  training.epochs = epochs;
  training.max_steps = max_steps;
  return training;
}

TEST_CASE("an epoch's last step holds the rest") {
  const TrainingSpec training = training_of(2, std::nullopt);
  const StepPlan plan = plan_steps(training, 1000);
  CHECK(plan.steps_per_epoch == 8);
  CHECK(plan.steps == 16);
  std::uint64_t examples = 0;
  for (std::uint64_t step = 0; step < plan.steps; ++step) {
    examples += examples_of_step(training, 1000, step);
  }
  CHECK(examples == 2000);
  CHECK(examples_of_step(training, 1000, 7) == 104);
  CHECK(examples_of_step(training, 1000, 15) == 104);
}

TEST_CASE("what an epoch's last step lacks is lacking in its last slots") {
  auto training = training_of(2, std::nullopt);
  training.slots = 8;
  CHECK(examples_of_slot(training, 1000, 6, 7) == 16);
  const std::vector<std::uint32_t> last = {16, 16, 16, 16, 16, 16, 8, 0};
  for (std::uint32_t slot = 0; slot < 8; ++slot) {
    CHECK(examples_of_slot(training, 1000, 7, slot) == last[slot]);
    CHECK(examples_of_slot(training, 1000, 15, slot) == last[slot]);
  }
}

TEST_CASE("whichever comes first ends the job") {
  CHECK(plan_steps(training_of(2, 9), 1000).steps == 9);
  CHECK(plan_steps(training_of(2, 99), 1000).steps == 16);
  CHECK(plan_steps(training_of(std::nullopt, 99), 1000).steps == 99);
}

}  // namespace
}  // namespace ballast
