#include "insight/on_the_way.h"

#include <doctest/doctest.h>

namespace ballast::insight {
namespace {

constexpr Micros kSecond = 1'000'000;
constexpr Step kOpen = 7;

// A worker and a lane; both clocks are at 20 s.
JobTrace of_two() {
  JobTrace trace;
  trace.processes.resize(2);
  auto& lane = trace.processes[0];
  lane.source = {TraceRole::lane, {1, 0}, 0};
  lane.name = "shard 1 lane 0";
  lane.clock = ClockReading{.own = 20 * kSecond, .lead = 5 * kSecond};
  auto& worker = trace.processes[1];
  worker.source = {TraceRole::worker, {}, 5};
  worker.name = "worker a";
  worker.clock = ClockReading{.own = 20 * kSecond, .lead = 5 * kSecond};
  return trace;
}

TraceRecord push(Micros taken, ChunkId chunk = 3) {
  return {.step = kOpen, .third = taken, .chunk = chunk, .slots = {0, 2}, .kind = TraceKind::push};
}

TraceRecord reply(Micros taken) {
  return {.step = kOpen, .peer = 5, .second = taken, .chunk = 3, .kind = TraceKind::reply};
}

TEST_CASE("on the way: a contribution that its lane has no record of, and weights that nobody has stored") {
  auto trace = of_two();
  trace.processes[1].records = {push(18 * kSecond), push(16 * kSecond, 4)};
  trace.processes[0].records = {reply(15 * kSecond)};
  const auto found = on_the_way(trace, kOpen, kSecond);
  REQUIRE(found.size() == 2);
  CHECK(found[0].from == "shard 1 lane 0");
  CHECK(found[0].to == "worker a");
  CHECK(found[0].what == "weights of step 7 in chunk 3");
  CHECK(found[0].age == 5 * kSecond);
  CHECK(found[1].from == "worker a");
  CHECK(found[1].what == "its part of step 7 in chunk 4");  // the oldest
  CHECK(found[1].age == 4 * kSecond);
}

TEST_CASE("on the way: what has arrived is not, nor what is of a step before, or has just left, or never did") {
  auto trace = of_two();
  auto arrived = reply(15 * kSecond);
  arrived.kind = TraceKind::pull;
  arrived.peer = 0;
  auto summed = push(0);
  summed.kind = TraceKind::contribution;
  summed.peer = 5;
  trace.processes[0].records = {reply(15 * kSecond), summed};
  trace.processes[1].records = {push(18 * kSecond), arrived, push(0, 8), push(20 * kSecond - 1, 9)};
  CHECK(on_the_way(trace, kOpen, kSecond).empty());
  summed.slots = {0, 1};  // another contribution
  trace.processes[0].records[1] = summed;
  CHECK(on_the_way(trace, kOpen, kSecond).size() == 1);
  CHECK(on_the_way(trace, kOpen + 1, kSecond).empty());
}

TEST_CASE("on the way: nothing is said of somebody whose records are not all there") {
  auto trace = of_two();
  trace.processes[1].records = {push(18 * kSecond)};
  CHECK(on_the_way(trace, kOpen, kSecond).size() == 1);
  trace.processes[0].lost = 1;
  CHECK(on_the_way(trace, kOpen, kSecond).empty());
  trace.processes[0].lost = 0;
  trace.processes[0].clock.reset();  // it did not answer
  CHECK(on_the_way(trace, kOpen, kSecond).empty());
  trace.processes.erase(trace.processes.begin());
  CHECK(on_the_way(trace, kOpen, kSecond).empty());
}

}  // namespace
}  // namespace ballast::insight
