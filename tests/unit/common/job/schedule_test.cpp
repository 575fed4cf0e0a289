#include "common/job/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "common/job/optimizer_settings.h"

namespace ballast {
namespace {

double factor(const ScheduleSpec& schedule, Step step, Step steps_of_job = 100) {
  return schedule_factor(schedule, steps_of_job, step);
}

TEST_CASE("a constant rate, and the line up to it") {
  CHECK(factor({}, 0) == 1);
  CHECK(factor({}, 1000000000000) == 1);
  const ScheduleSpec warm{.warmup_steps = 3};
  CHECK(factor(warm, 0) == 0.25);
  CHECK(factor(warm, 1) == 0.5);
  CHECK(factor(warm, 2) == 0.75);
  CHECK(factor(warm, 3) == 1);
  CHECK(factor(warm, 4) == 1);
}

TEST_CASE("decay by steps and evenly") {
  const ScheduleSpec step{.name = "step", .decay_steps = 10, .decay_rate = 0.5, .warmup_steps = 4};
  CHECK(factor(step, 3) == 0.8);
  CHECK(factor(step, 4) == 1);
  CHECK(factor(step, 13) == 1);
  CHECK(factor(step, 14) == 0.5);
  CHECK(factor(step, 23) == 0.5);
  CHECK(factor(step, 24) == 0.25);
  const ScheduleSpec evenly{.name = "exponential", .decay_steps = 10, .decay_rate = 0.25};
  CHECK(factor(evenly, 0) == 1);
  CHECK(factor(evenly, 5) == 0.5);
  CHECK(factor(evenly, 10) == 0.25);
  CHECK(factor(evenly, 15) == 0.125);
}

TEST_CASE("a cosine ends where it is told to and stays there") {
  const ScheduleSpec whole{.name = "cosine", .final_rate = 0.5};
  CHECK(factor(whole, 0) == 1);
  CHECK(factor(whole, 50) == doctest::Approx(0.75).epsilon(1e-15));
  CHECK(factor(whole, 100) == 0.5);
  CHECK(factor(whole, 101) == 0.5);
  const ScheduleSpec shorter{.name = "cosine", .decay_steps = 20, .warmup_steps = 10};
  CHECK(factor(shorter, 10) == 1);
  CHECK(factor(shorter, 20) == doctest::Approx(0.5).epsilon(1e-15));
  CHECK(factor(shorter, 30) == 0);
  CHECK(factor(shorter, 99) == 0);
  const ScheduleSpec behind_warmup{.name = "cosine", .warmup_steps = 50};
  CHECK(factor(behind_warmup, 75) == doctest::Approx(0.5).epsilon(1e-15));
  // A warm-up as long as the job leaves nothing for the cosine.
  const ScheduleSpec warming{.name = "cosine", .warmup_steps = 100};
  CHECK(factor(warming, 99) == doctest::Approx(100.0 / 101));
  CHECK(factor(warming, 100) == 1);
}

TEST_CASE("a step's factors carry the bias corrections of the updates so far") {
  TrainingSpec training;
  training.optimizer = {.name = "adam", .learning_rate = 0.5, .beta1 = 0.5, .beta2 = 0.75};
  const StepFactors first = step_factors(training, 10, 0, 0);
  CHECK(first.learning_rate == 0.5F);
  CHECK(first.step_size == 1.0F);
  CHECK(first.second_moment_root == 0.5F);
  CHECK_FALSE(first.skip);
  CHECK(first.scales.empty());
  // Step 5 with three skipped ones before it is the third update.
  const StepFactors third = step_factors(training, 10, 5, 2);
  CHECK(third.step_size == static_cast<float>(0.5 / 0.875));
  CHECK(third.second_moment_root == static_cast<float>(std::sqrt(1 - 0.421875)));
  const StepFactors late = step_factors(training, 10, 9, 1'000'000'000'000);
  CHECK(late.step_size == 0.5F);
  CHECK(late.second_moment_root == 1.0F);

  training.optimizer.name = "rmsprop";
  training.schedule.warmup_steps = 1;
  const StepFactors plain = step_factors(training, 10, 0, 0);
  CHECK(plain.learning_rate == 0.25F);
  CHECK(plain.step_size == 0.25F);
  CHECK(plain.second_moment_root == 1.0F);
}

TEST_CASE("the optimizer's settings by group") {
  TrainingSpec training;
  training.optimizer = {.name = "adagrad", .weight_decay = 0.125};
  training.clip.value = 2.5;
  const auto decaying = optimizer_settings(training, Group::decay);
  CHECK(decaying.kind == OptimizerKind::adagrad);
  CHECK(decaying.weight_decay == 0.125);
  CHECK(decaying.epsilon == 1e-10);
  CHECK(decaying.clip_value == 2.5);
  CHECK(optimizer_settings(training, Group::no_decay).weight_decay == 0);
  training.clip.value.reset();
  CHECK(std::isinf(optimizer_settings(training, Group::decay).clip_value));
  training.optimizer = {.name = "sgd", .momentum = 0.5, .nesterov = true};
  const auto sgd = optimizer_settings(training, Group::no_decay);
  CHECK(sgd.kind == OptimizerKind::sgd);
  CHECK(sgd.momentum == 0.5);
  CHECK(sgd.nesterov);
  training.optimizer = {.name = "adamw", .beta1 = 0.8, .beta2 = 0.9};
  CHECK(optimizer_settings(training, Group::decay).kind == OptimizerKind::adamw);
  CHECK(optimizer_settings(training, Group::decay).beta1 == 0.8);
  CHECK(optimizer_settings(training, Group::decay).beta2 == 0.9);
  CHECK(optimizer_settings(training, Group::decay).epsilon == 1e-8);
  training.optimizer = {.name = "rmsprop", .alpha = 0.5, .epsilon = 1e-3};
  CHECK(optimizer_settings(training, Group::decay).kind == OptimizerKind::rmsprop);
  CHECK(optimizer_settings(training, Group::decay).alpha == 0.5);
  CHECK(optimizer_settings(training, Group::decay).epsilon == 1e-3);
  training.optimizer.name = "unheard-of";
  CHECK_THROWS_AS(optimizer_settings(training, Group::decay), std::invalid_argument);
}

}  // namespace
}  // namespace ballast
