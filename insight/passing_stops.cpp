#include "insight/passing_stops.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "insight/medians.h"
#include "insight/replay.h"
#include "insight/suspects.h"

namespace ballast::insight {
namespace {

constexpr std::size_t kStepsAfter = 3;

double odd_time_of_step(const WorkerTimes& own, std::size_t step) {
  double time = step < own.stops.size() ? own.stops[step] : 0;
  for (const auto slot : own.slots[step]) {
    time += is_odd(slot, own) ? slot - own.slot : 0;
  }
  return time;
}

// By step, whose stops it has: the place among the workers; nobody's.
using Stopped = std::vector<std::optional<std::size_t>>;

Stopped stopped(const JobTimes& times, const std::vector<std::size_t>& passing) {
  Stopped who(times.steps);
  for (std::size_t step = 0; step < times.steps; ++step) {
    double longest = 0;
    for (const auto place : passing) {
      if (const auto odd = odd_time_of_step(times.workers[place], step); odd > longest) {
        longest = odd;
        who[step] = place;
      }
    }
  }
  return who;
}

// A stop that begins in a step may last for several, which others do without the worker. With those, and so many after
// them, as long as none has stops of its own.
Stopped held_by(const Stopped& stopped, const std::vector<WorkerTimes>& workers, const std::vector<double>& took,
                std::size_t after) {
  auto who = stopped;
  for (std::size_t step = 0; step < stopped.size(); ++step) {
    if (!stopped[step]) {
      continue;
    }
    auto last = step;
    for (auto left = odd_time_of_step(workers[*stopped[step]], step) - took[step];
         left > 0 && last + 1 < took.size();) {
      left -= took[++last];
    }
    last = std::min(stopped.size() - 1, last + after);
    for (auto next = step + 1; next <= last && !stopped[next]; ++next) {
      who[next] = stopped[step];
    }
  }
  return who;
}

JobTimes without_stops(JobTimes times, const std::vector<std::size_t>& passing) {
  for (const auto place : passing) {
    auto& own = times.workers[place];
    own.stops.assign(own.stops.size(), 0);
    for (auto& step : own.slots) {
      std::ranges::transform(step, step.begin(), [&](double slot) { return is_odd(slot, own) ? own.slot : slot; });
    }
  }
  return times;
}

// Of those that nobody's stops hold; nothing where they are too few to tell.
std::optional<double> usual_step(const std::vector<double>& took, const Stopped& held) {
  constexpr std::size_t kOfSo = 4;  // one of so many
  std::vector<double> sound;
  for (std::size_t step = 0; step < took.size(); ++step) {
    if (!held[step]) {
      sound.push_back(took[step]);
    }
  }
  return kOfSo * sound.size() < took.size() ? std::nullopt : std::optional(median(std::move(sound)));
}

}  // namespace

double odd_time(const WorkerTimes& own) {
  double time = 0;
  for (std::size_t step = 0; step < own.slots.size(); ++step) {
    time += odd_time_of_step(own, step);
  }
  return time;
}

bool is_passing(double odd, double usual, double window) {
  constexpr double kMatters = 0.02;
  return odd > kMatters * window && odd > 2 * usual;
}

double usual_odd_time(const std::vector<WorkerTimes>& workers) {
  std::vector<double> odd;
  std::ranges::transform(workers, std::back_inserter(odd), odd_time);
  return lower_median(std::move(odd));
}

void take_out_stops(const std::vector<double>& took, JobTimes& times) {
  const auto window = times.step * static_cast<double>(times.steps);
  const auto usual_odd = usual_odd_time(times.workers);
  std::vector<std::size_t> passing;
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    if (is_passing(odd_time(times.workers[i]), usual_odd, window)) {
      passing.push_back(i);
    }
  }
  if (passing.empty() || took.size() != times.steps) {
    return;
  }
  const auto who = stopped(times, passing);
  const auto during = held_by(who, times.workers, took, 0);
  auto held = held_by(who, times.workers, took, kStepsAfter);
  auto usual = usual_step(took, held);
  if (!usual) {
    held = during;
    usual = usual_step(took, held);
  }
  auto without = without_stops(times, passing);
  if (!usual && during != who) {
    const auto takes = replay(without);
    usual = takes ? std::optional(std::min(*takes, std::ranges::min(took))) : std::nullopt;
  }
  if (!usual) {
    return;  // one that stops in nearly every step is as well replayed as one that is slow
  }
  std::vector<double> lost(times.workers.size(), 0);
  for (std::size_t step = 0; step < took.size(); ++step) {
    if (held[step]) {
      lost[*held[step]] += took[step] - *usual;
    }
  }
  const auto as_it_was = std::exchange(times, std::move(without));
  for (const auto place : passing) {
    auto& own = times.workers[place];
    own.odd = odd_time(as_it_was.workers[place]);
    // Something else may have held such a step up as well.
    constexpr double kMost = 1.25;
    own.lost = std::clamp(lost[place], 0.0, kMost * own.odd) / static_cast<double>(times.steps);
  }
}

}  // namespace ballast::insight
