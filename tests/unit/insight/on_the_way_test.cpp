#include "insight/on_the_way.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

namespace ballast::insight {
namespace {

constexpr Micros kSecond = 1'000'000;
constexpr Step kOpen = 7;
constexpr SessionId kSender = 5;

// What each has of the step before, from 10 s on.
TraceRecord of_step_before() {
  return {.step = kOpen - 1, .first = 10 * kSecond, .second = 10 * kSecond, .kind = TraceKind::update};
}

// A lane and a worker, of a job in rounds; both clocks are at 20 s.
JobTrace of_two() {
  JobTrace trace;
  trace.rules = SharingRules{};
  trace.processes.resize(2);
  auto& lane = trace.processes[0];
  lane.source = {TraceRole::lane, {1, 0}, 0};
  lane.name = "shard 1 lane 0";
  auto& worker = trace.processes[1];
  worker.source = {TraceRole::worker, {}, kSender};
  worker.name = "worker a";
  for (auto& process : trace.processes) {
    process.clock = ClockReading{.own = 20 * kSecond, .lead = 20 * kSecond};
    process.told_all = true;
    process.records = {of_step_before()};
  }
  worker.records[0].kind = TraceKind::slot;
  return trace;
}

TraceRecord pushed(Micros taken, ChunkId chunk = 3) {
  return {.step = kOpen, .second = taken, .third = taken, .chunk = chunk, .slots = {0, 2}, .kind = TraceKind::push};
}

TraceRecord replied(Micros taken, ChunkId chunk = 3) {
  return {.step = kOpen, .peer = kSender, .first = taken, .second = taken, .chunk = chunk, .kind = TraceKind::reply};
}

// What there is of it on the other side.
TraceRecord came(TraceRecord sent) {
  const bool is_push = sent.kind == TraceKind::push;
  const auto handed = is_push ? sent.second : sent.first;
  sent.kind = is_push ? TraceKind::contribution : TraceKind::pull;
  sent.peer = is_push ? kSender : 0;
  sent.first = is_push ? handed : 0;
  sent.second = is_push ? handed + 1 : handed;
  sent.third = sent.fourth = handed + 1;
  return sent;
}

void add(JobTrace& trace, const TraceRecord& record) {
  const bool is_of_lane = is_of(record.kind, TraceRole::lane);
  trace.processes[is_of_lane ? 0 : 1].records.push_back(record);
}

std::size_t count(const JobTrace& trace) { return on_the_way(trace, kOpen, kSecond).size(); }

TEST_CASE("on the way: contributions that their lane has not accepted, and weights that nobody has stored") {
  auto trace = of_two();
  add(trace, pushed(18 * kSecond));
  add(trace, pushed(16 * kSecond, 4));
  add(trace, replied(15 * kSecond));
  const auto found = on_the_way(trace, kOpen, kSecond);
  REQUIRE(found.size() == 2);
  CHECK(found[0].from == "shard 1 lane 0");
  CHECK(found[0].to == "worker a");
  CHECK(found[0].is_weights);
  CHECK(found[0].step == kOpen);
  CHECK(found[0].chunk == 3);
  CHECK(found[0].age == 5 * kSecond);
  CHECK(found[0].others == 0);
  CHECK(found[1].from == "worker a");
  CHECK_FALSE(found[1].is_weights);
  CHECK(found[1].chunk == 4);  // the oldest
  CHECK(found[1].age == 4 * kSecond);
  CHECK(found[1].others == 1);
}

TEST_CASE("on the way: what has come is not, nor what is of a step before, or has just left, or never did") {
  auto trace = of_two();
  add(trace, replied(15 * kSecond));
  add(trace, came(replied(15 * kSecond)));
  add(trace, pushed(18 * kSecond));
  add(trace, came(pushed(18 * kSecond)));
  add(trace, pushed(0, 8));
  add(trace, pushed(20 * kSecond - 1, 9));
  CHECK(count(trace) == 0);
  add(trace, pushed(19 * kSecond, 5));
  CHECK(count(trace) == 1);
  CHECK(on_the_way(trace, kOpen + 1, kSecond).empty());
}

TEST_CASE("on the way: what left before something that has come the same way is not") {
  auto trace = of_two();
  add(trace, pushed(16 * kSecond, 4));
  add(trace, replied(16 * kSecond, 4));
  CHECK(count(trace) == 2);
  add(trace, came(pushed(17 * kSecond)));  // the one before was not accepted
  CHECK(count(trace) == 1);
  add(trace, came(replied(17 * kSecond)));
  CHECK(count(trace) == 0);
}

TEST_CASE("on the way: nothing is said of somebody whose records are not all there") {
  auto trace = of_two();
  add(trace, pushed(18 * kSecond));
  CHECK(count(trace) == 1);
  for (std::size_t one = 0; one < 2; ++one) {
    auto& process = trace.processes[one];
    process.lost = 1;
    CHECK(count(trace) == 0);
    process.lost = 0;
    process.told_all = false;  // it told a part, and no more
    CHECK(count(trace) == 0);
    process.told_all = true;
    const auto clock = process.clock;
    process.clock.reset();  // it did not answer
    CHECK(count(trace) == 0);
    process.clock = clock;
  }
  CHECK(count(trace) == 1);
  trace.processes.erase(trace.processes.begin());
  CHECK(count(trace) == 0);
}

TEST_CASE("on the way: nor of a receiver whose records begin after it left, for it may have had it") {
  for (const auto& sent : {pushed(18 * kSecond), replied(18 * kSecond)}) {
    auto trace = of_two();
    add(trace, sent);
    CHECK(count(trace) == 1);
    auto& receiver = trace.processes[sent.kind == TraceKind::push ? 0 : 1];
    receiver.records[0].second = 18 * kSecond + 1;
    CHECK(count(trace) == 0);
    receiver.records[0].second = 18 * kSecond;
    CHECK(count(trace) == 1);
    receiver.clock->error = 1;
    CHECK(count(trace) == 0);
    receiver.clock->error = 0;
    std::erase_if(receiver.records, [](const auto& record) { return record.step == kOpen - 1; });
    CHECK(count(trace) == 0);
  }
}

TEST_CASE("on the way: for as long as until the receiver told what it has, by clocks as wrong as they say") {
  auto trace = of_two();
  add(trace, pushed(18 * kSecond));
  auto& lane = trace.processes[0];
  lane.clock = ClockReading{.own = 19 * kSecond, .lead = 19 * kSecond};
  CHECK(on_the_way(trace, kOpen, kSecond).at(0).age == kSecond);
  lane.clock->error = 1;
  CHECK(count(trace) == 0);
  lane.clock = ClockReading{.own = 17 * kSecond, .lead = 17 * kSecond};  // it was asked before that left
  CHECK(count(trace) == 0);
  // Its clock is 100 s ahead of the lead's.
  lane.clock = ClockReading{.own = 120 * kSecond, .lead = 20 * kSecond};
  lane.records[0].second = 110 * kSecond;
  CHECK(on_the_way(trace, kOpen, kSecond).at(0).age == 2 * kSecond);
}

TEST_CASE("on the way: of a job in items weights alone") {
  auto trace = of_two();
  trace.rules.reset();
  trace.mode = "async";
  add(trace, pushed(18 * kSecond));
  CHECK(count(trace) == 0);
  add(trace, replied(18 * kSecond));
  CHECK(count(trace) == 1);
}

TEST_CASE("on the way: told once of each receiver, however many send to it") {
  constexpr std::uint64_t kLanes = 512;
  constexpr std::uint64_t kWorkers = 300;
  JobTrace trace;
  trace.rules = SharingRules{};
  const auto two = of_two();
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    auto& added = trace.processes.emplace_back(two.processes[0]);
    for (std::uint64_t worker = 1; worker <= kWorkers; ++worker) {
      auto reply = replied(15 * kSecond + worker);
      reply.peer = worker;
      added.records.push_back(reply);
    }
  }
  for (std::uint64_t worker = 1; worker <= kWorkers; ++worker) {
    auto& added = trace.processes.emplace_back(two.processes[1]);
    added.source.session = worker;
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
      auto push = pushed(16 * kSecond + worker);
      push.peer = lane;
      added.records.push_back(push);
    }
  }
  const auto found = on_the_way(trace, kOpen, kSecond);
  CHECK(found.size() == kLanes + kWorkers);
  CHECK(std::ranges::is_sorted(found, std::ranges::greater{}, &OnTheWay::age));
  CHECK(found.front().is_weights);
  CHECK(found.front().others == kLanes - 1);
  CHECK(found.back().others == kWorkers - 1);
}

}  // namespace
}  // namespace ballast::insight
