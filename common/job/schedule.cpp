#include "common/job/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ballast {
namespace {

// `step` counts from the end of the warm-up, and so does `end`.
double main_factor(const ScheduleSpec& schedule, Step end, Step step) {
  const Step period = std::max<Step>(1, schedule.decay_steps.value_or(end));
  const auto part = static_cast<double>(step) / static_cast<double>(period);
  if (schedule.name == "step") {
    const Step decays = step / period;
    return std::pow(schedule.decay_rate, static_cast<double>(decays));
  }
  if (schedule.name == "exponential") {
    return std::pow(schedule.decay_rate, part);
  }
  if (schedule.name == "cosine") {
    return schedule.final_rate + (1 - schedule.final_rate) * (1 + std::cos(std::numbers::pi * std::min(1.0, part))) / 2;
  }
  return 1;
}

}  // namespace

double schedule_factor(const ScheduleSpec& schedule, Step steps_of_job, Step step) {
  const Step warmup = schedule.warmup_steps;
  if (step < warmup) {
    return static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  }
  return main_factor(schedule, steps_of_job > warmup ? steps_of_job - warmup : 0, step - warmup);
}

StepFactors step_factors(const TrainingSpec& training, Step steps_of_job, Step step, std::uint64_t updates_before) {
  const auto& optimizer = training.optimizer;
  const double rate = optimizer.learning_rate * schedule_factor(training.schedule, steps_of_job, step);
  StepFactors factors;
  factors.learning_rate = static_cast<float>(rate);
  factors.step_size = factors.learning_rate;
  const bool is_lamb = optimizer.name == "lamb";  // the rate is no part of the update whose norm is taken
  if (is_lamb || optimizer.name == "adam" || optimizer.name == "adamw") {
    const auto t = static_cast<double>(updates_before + 1);
    factors.step_size = static_cast<float>((is_lamb ? 1 : rate) / (1 - std::pow(optimizer.beta1, t)));
    factors.second_moment_root = static_cast<float>(std::sqrt(1 - std::pow(optimizer.beta2, t)));
  }
  return factors;
}

}  // namespace ballast
