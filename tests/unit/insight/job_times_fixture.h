// Jobs whose work takes what a test says.
#pragma once

#include <string>
#include <vector>

#include "insight/job_times.h"

namespace ballast::insight {

inline constexpr double kSlot = 100'000;
inline constexpr double kChunkBytes = 1'000'000;
inline constexpr std::size_t kLaneProcess = 100;

// Workers w0, w1, ... that take kSlot for a slot, one lane, two chunks; nothing else takes time, and the lead neither
// divides by speed nor moves slots, unless a test says so.
inline JobTimes job_of(std::size_t workers, Slot slots) {
  JobTimes times;
  times.rules = {slots, 2, static_cast<std::uint64_t>(2 * kChunkBytes), false, false};
  times.steps = 10;
  times.step = 500'000;
  times.bytes = {kChunkBytes, kChunkBytes};
  times.lane_of = {0, 0};
  times.sum = {0, 0};
  times.apply = {0, 0};
  for (std::size_t i = 0; i < workers; ++i) {
    WorkerTimes worker;
    worker.name = "worker w" + std::to_string(i);
    worker.process = i;
    worker.slot = kSlot;
    worker.slots.assign(times.steps, std::vector<double>(slots / workers, kSlot));
    worker.ready = {1, 1};
    times.workers.push_back(worker);
  }
  times.lanes = {{.name = "shard 0 lane 0", .process = kLaneProcess}};
  times.shards = {{}};
  return times;
}

// The same, each slot of which is an item: nobody waits for anybody but for what is said.
inline JobTimes items_of(std::size_t workers, Slot slots, GrantRules rules = {0, 4}) {
  auto times = job_of(workers, slots);
  times.items = rules;
  return times;
}

inline void slow_down(WorkerTimes& worker, double times) {
  worker.slot *= times;
  for (auto& step : worker.slots) {
    for (auto& slot : step) {
      slot *= times;
    }
  }
}

}  // namespace ballast::insight
