#include "insight/waterfall.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace ballast::insight {
namespace {

constexpr SessionId kWaterSession = 40;
constexpr Micros kStepLasts = 10'000;

TraceRecord water_record(TraceKind kind, Step step, const std::vector<Micros>& times, Slot slot = 0,
                         std::uint64_t peer = 0) {
  TraceRecord record;
  record.kind = kind;
  record.step = step;
  record.peer = peer;
  record.first = times[0];
  record.second = times.size() > 1 ? times[1] : 0;
  record.third = times.size() > 2 ? times[2] : 0;
  record.fourth = times.size() > 3 ? times[3] : 0;
  record.slots = {slot, slot + 1};
  return record;
}

// So many workers with a slot each, the later ones the later done; a lane and one chunk; steps of 10 ms.
JobTrace falling_water(Step steps, std::size_t workers) {
  JobTrace trace;
  trace.job = "a";
  trace.rules = SharingRules{static_cast<Slot>(workers), 1, 100, true, true};
  trace.processes.resize(workers + 2);
  trace.processes[workers].source = {TraceRole::lane, {0, 0}, 0};
  trace.processes[workers].name = "shard 0 lane 0";
  trace.processes[workers + 1].source = {TraceRole::lead, {}, 0};
  trace.processes[workers + 1].name = "lead";
  for (std::size_t i = 0; i < workers; ++i) {
    trace.processes[i].source = {TraceRole::worker, {}, kWaterSession + i};
    trace.processes[i].name = "worker " + std::to_string(i);
  }
  for (auto& process : trace.processes) {
    process.clock = ClockReading{0, 0, 0, 0};
  }
  auto& lane = trace.processes[workers].records;
  for (Step step = 0; step < steps; ++step) {
    const auto begin = 1'000'000 + step * kStepLasts;
    for (std::size_t i = 0; i < workers; ++i) {
      const auto slot = static_cast<Slot>(i);
      const auto done = begin + 2'000 + 1'000 * i;
      trace.processes[i].records.push_back(
          water_record(TraceKind::slot, step, {begin, begin + 500, begin + 800, done}, slot));
      trace.processes[i].records.push_back(water_record(TraceKind::push, step, {done, done, done + 300, 100}, slot));
      lane.push_back(
          water_record(TraceKind::contribution, step, {done, done + 300, done + 400}, slot, kWaterSession + i));
    }
    const auto end = begin + kStepLasts;
    lane.push_back(water_record(TraceKind::update, step, {end - 700, end - 500, end}));
    lane.push_back(water_record(TraceKind::work, 0, {begin, end, 100, 100}));
  }
  return trace;
}

const WaterfallRow& row_of(const Waterfall& waterfall, const std::string& name) {
  return *std::ranges::find(waterfall.rows, name, &WaterfallRow::name);
}

TEST_CASE("waterfall: the newest whole step, from the update before it to its own") {
  const auto found = waterfall_of(falling_water(5, 3), 10, 10);
  CHECK(found.is_step);
  CHECK(found.step == 4);
  CHECK(found.length == kStepLasts);
  REQUIRE(found.rows.size() == 5);
  CHECK(found.left_out == 0);
  CHECK(found.rows[0].name == "lead");
  CHECK(found.rows[1].name == "worker 2");  // which ended last
  const auto& worker = row_of(found, "worker 0");
  REQUIRE(worker.spans.size() == 3);
  CHECK(worker.spans[0].work == Work::data);
  CHECK(worker.spans[0].from == 0);
  CHECK(worker.spans[0].until == 500);
  CHECK(worker.taken[static_cast<std::size_t>(Work::compute)] == 1'500);
  CHECK(worker.ended == 2'300);
  const auto& lane = row_of(found, "shard 0 lane 0");
  CHECK(lane.taken[static_cast<std::size_t>(Work::sum)] == 300);
  CHECK(lane.taken[static_cast<std::size_t>(Work::apply)] == 500);
}

TEST_CASE("waterfall: a job in items has its last moments") {
  auto trace = falling_water(5, 2);
  trace.rules.reset();
  trace.mode = "async";
  const auto found = waterfall_of(trace, 10, 10);
  CHECK_FALSE(found.is_step);
  CHECK(found.length == 10'000);
  CHECK_FALSE(row_of(found, "worker 1").spans.empty());
  CHECK(waterfall_of({}, 10, 10).rows.empty());
}

TEST_CASE("waterfall: rows are bounded, and so are their spans") {
  auto trace = falling_water(5, 7);
  auto& records = trace.processes[0].records;
  const auto begin = 1'000'000 + 4 * kStepLasts;
  for (Micros at = begin; at < begin + kStepLasts; at += 10) {
    records.push_back(water_record(TraceKind::pull, 4, {at, at, at + 1, at + 2}));
  }
  const auto found = waterfall_of(trace, 4, 5);
  CHECK(found.rows.size() == 4);
  CHECK(found.left_out == 5);
  CHECK(row_of(found, "shard 0 lane 0").name == "shard 0 lane 0");  // the workers leave room for it
  const auto all = waterfall_of(trace, 20, 5);
  const auto& busy = row_of(all, "worker 0");
  CHECK(busy.spans.size() <= 5 * kWorks);
  CHECK(busy.taken[static_cast<std::size_t>(Work::download)] == 2'000);  // as it was, whatever is drawn as one
  for (const auto& row : all.rows) {
    for (const auto& span : row.spans) {
      CHECK(span.from < span.until);
      CHECK(span.until <= all.length);
    }
  }
}

}  // namespace
}  // namespace ballast::insight
