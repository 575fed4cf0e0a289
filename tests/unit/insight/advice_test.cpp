#include "insight/advice.h"

#include <doctest/doctest.h>

#include "insight/replay.h"
#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

Verdict judged(const JobTimes& times, std::vector<Finding> found = {}) {
  const auto takes = replay(times);
  REQUIRE(takes);
  double slowdown = 1;
  for (const auto& one : found) {
    slowdown = std::max(slowdown, one.gain);
  }
  return {times.steps, times.step / 1'000, *takes / 1'000, slowdown, std::move(found)};
}

TEST_CASE("advice: a worker that is slower than the others together gain by is left out") {
  auto times = job_of(4, 12);  // three slots each, or four of three workers
  slow_down(times.workers[1], 3);
  const auto told = advice(times, judged(times, {{Cause::compute, "worker w1", 3, 3, 3, 0}}));
  CHECK(told.change == Change::leave_out);
  CHECK(told.who == std::vector<std::string>{"worker w1"});
  CHECK(told.number == 3);
  CHECK(told.gain == doctest::Approx(900.0 / 400).epsilon(0.01));
}

TEST_CASE("advice: of two that are as slow both are") {
  auto times = job_of(4, 12);
  slow_down(times.workers[1], 4);
  slow_down(times.workers[3], 4);
  const auto told = advice(
      times, judged(times, {{Cause::compute, "worker w3", 4, 1, 4, 0}, {Cause::worker_link, "worker w1", 4, 1, 4, 0}}));
  CHECK(told.change == Change::leave_out);
  CHECK(told.who == std::vector<std::string>{"worker w3", "worker w1"});
  CHECK(told.gain == doctest::Approx(1200.0 / 600).epsilon(0.01));
}

TEST_CASE("advice: where nothing else helps, what holds it up is to be mended") {
  auto times = job_of(3, 12);
  times.step = 700'000;
  times.decisions.assign(times.steps, 200'000);
  const auto told = advice(times, judged(times, {{Cause::lead, "lead", 200, 1.5, 1.5, 0}}));
  CHECK(told.change == Change::mend);
  CHECK(told.who == std::vector<std::string>{"lead"});
  CHECK(told.gain == 1.5);
  const auto hardly = advice(times, judged(times, {{Cause::lead, "lead", 200, 1.01, 1.2, 0}}));
  CHECK(hardly.change == Change::none);  // the whole slowdown is 1.01
}

TEST_CASE("advice: where to mend two gains far more than one of them, both are to be mended") {
  auto times = job_of(2, 2);  // each has one slot: the slower one decides
  slow_down(times.workers[0], 2);
  slow_down(times.workers[1], 2.2);
  auto verdict = judged(times, {{Cause::compute, "worker w1", 2.2, 1.1, 1.1, 0, {}, 1},
                                {Cause::worker_link, "worker w1", 1.5, 1, 1.04, 0, {}, 1},
                                {Cause::passing, "worker w0", 2, 1, 1.9, 0, {}, 0},
                                {Cause::barrier, "all workers", 1.3, 1.3, 1.3, 0}});
  verdict.slowdown = 3;  // with what is nobody's
  const auto told = advice(times, verdict);
  INFO(told.gain);
  CHECK(told.change == Change::mend);
  CHECK(told.who == std::vector<std::string>{"worker w1"});
}

TEST_CASE("advice: to mend what costs far more comes before a change, and is said beside one otherwise") {
  auto times = job_of(3, 3);
  times.rules.slots = 4;  // one worker computes two: six slots take two thirds
  const auto told = [&](double gain) {
    return advice(times, judged(times, {{Cause::compute, "worker w1", 3, gain, gain, 0}}));
  };
  CHECK(told(1.04).change == Change::slots);
  CHECK(told(1.04).to_mend.empty());
  const auto both = told(3);
  CHECK(both.change == Change::slots);
  CHECK(both.to_mend == std::vector<std::string>{"worker w1"});
  CHECK(both.mended == 3);
  times.rules.slots = 3;
  times.workers[1].fetch = 140'000;  // nothing that is tried helps much
  const auto far = advice(times, judged(times, {{Cause::data, "worker w1", 3, 1.4, 1.4, 0}}));
  CHECK(far.change == Change::mend);
  CHECK(far.who == std::vector<std::string>{"worker w1"});
}

TEST_CASE("advice: a lane without a processor is given no others") {
  auto times = job_of(3, 12);
  times.sum = {300'000, 300'000};
  times.lanes[0].starved = 3;
  times.step = 3'000'000;
  CHECK(advice(times, judged(times)).change != Change::more_lanes);
}

TEST_CASE("advice: nobody is left out for a stop that is over") {
  auto times = job_of(4, 4);
  times.step = 2'500'000;
  times.servers = {10, 10};
  times.workers[1].slots[3][0] += 5'000'000;
  const auto told = advice(times, judged(times, {{Cause::passing, "worker w1", 1.2, 1.2, 1.2, 4}}));
  CHECK(told.change != Change::leave_out);
}

TEST_CASE("advice: lanes that sum one thing after the other are doubled") {
  auto times = job_of(2, 4);
  times.sum = {400'000, 400'000};
  const auto told = advice(times, judged(times));
  CHECK(told.change == Change::more_lanes);
  CHECK(told.number == 2);
  CHECK(told.gain > 1.3);
}

TEST_CASE("advice: slots that cannot be shared out evenly are cut anew") {
  auto times = job_of(3, 3);
  times.rules.slots = 4;  // one worker computes two
  const auto told = advice(times, judged(times));
  CHECK(told.change == Change::slots);
  CHECK(told.number == 6);
  CHECK(told.gain == doctest::Approx(200.0 / 133.3).epsilon(0.02));
}

TEST_CASE("advice: workers that bring nothing are said to be too many") {
  auto times = job_of(4, 4);
  times.servers = {10, 10};  // all that four workers send and are sent takes 1.6 s
  times.step = 1'700'000;
  const auto told = advice(times, judged(times));
  CHECK(told.change == Change::fewer_workers);
  CHECK(told.number == 2);
  CHECK(told.gain > 1);
}

TEST_CASE("advice: to mend what costs much comes before workers that are too many") {
  auto times = job_of(4, 4);
  times.servers = {10, 10};
  times.step = 1'700'000;
  const auto told = [&](double gain) {
    return advice(times, judged(times, {{Cause::lead, "lead", 200, gain, gain, 0, {}}})).change;
  };
  CHECK(told(1.2) == Change::mend);
  CHECK(told(1.05) == Change::fewer_workers);
}

TEST_CASE("advice: a job in which nothing can be gained is left as it is") {
  const auto times = job_of(4, 16);
  const auto told = advice(times, judged(times));
  CHECK(told.change == Change::none);
  CHECK(told.gain == 1);
}

TEST_CASE("advice: twice the lanes have half of each lane's chunks") {
  auto times = job_of(2, 4);
  times.lane_of = {0, 0, 1, 0, 1, 0};
  times.lanes = {{.name = "shard 0 lane 0", .shard = 0}, {.name = "shard 1 lane 0", .shard = 1}};
  const auto changed = with_twice_the_lanes(times);
  CHECK(changed.lane_of == std::vector<std::uint32_t>{0, 2, 1, 0, 3, 2});
  CHECK(changed.lanes[2].shard == 0);
  CHECK(changed.lanes[3].shard == 1);
}

TEST_CASE("advice: a stop in a slot takes no less time where slots are smaller") {
  auto times = job_of(1, 2);
  times.workers[0].slots[0][1] += 1'000'000;
  const auto changed = with_slots(times, 4);
  CHECK(changed.rules.slots == 4);
  CHECK(changed.workers[0].slot == kSlot / 2);
  CHECK(changed.workers[0].slots[0] == std::vector<double>{kSlot / 2, kSlot / 2 + 1'000'000});
}

TEST_CASE("advice: a journal that items wait for wants a faster disk") {
  auto times = items_of(3, 12);
  times.lanes[0].journal = 50'000;
  const auto told = advice(times, judged(times, {{Cause::storage, "shard 0", 1.5, 1.5, 1.5}}));
  CHECK(told.change == Change::faster_disk);
  CHECK(told.who == std::vector<std::string>{"shard 0"});
  CHECK(told.gain == doctest::Approx(1.5).epsilon(0.02));
  CHECK(told.is_of_syncs);
  auto unsynced = times;
  unsynced.lanes[0].syncs = false;
  unsynced.lanes[0].beside_disk = 25'000;
  const auto whole = advice(unsynced, judged(times, {{Cause::storage, "shard 0", 1.5, 1.5, 1.5}}));
  CHECK_FALSE(whole.is_of_syncs);
  CHECK(whole.gain == doctest::Approx(1.5).epsilon(0.02));
  unsynced.lanes[0].starved = 2;  // what is beside the disk waits for a processor
  const auto half = advice(unsynced, judged(times, {{Cause::storage, "shard 0", 1.5, 1.5, 1.5}}));
  CHECK(half.gain == doctest::Approx(1.5 / 1.25).epsilon(0.02));
  times.lanes.push_back({.name = "shard 1 lane 0", .process = 1, .shard = 1, .journal = 1'000});
  times.shards.resize(2);
  times.lane_of = {0, 1};
  const auto one = advice(
      times, judged(times, {{Cause::storage, "shard 0", 1.5, 1.5, 1.5}, {Cause::storage, "shard 1", 1.03, 1, 1.01}}));
  CHECK(one.who == std::vector<std::string>{"shard 0"});  // the other one's is quick enough
}

TEST_CASE("advice: a bound that keeps the fast ones waiting is widened, or who is slow left out") {
  auto times = items_of(4, 16, {6, 1});
  slow_down(times.workers[2], 4);
  const std::vector<Finding> found = {{Cause::compute, "worker w2", 4, 16.0 / 7, 16.0 / 7}};
  auto told = advice(times, judged(times, found));
  CHECK(told.change == Change::leave_out);
  CHECK(told.gain == doctest::Approx(16.0 / 7 * 4 / (16 / 3.0)).epsilon(0.03));
  slow_down(times.workers[2], 0.5);
  times.items->bound = 3;
  told = advice(times, judged(times));
  CHECK(told.change == Change::wider_bound);
  CHECK(told.number == 2);
  CHECK(told.gain > 1.3);
}

TEST_CASE("advice: of a job in items the number of slots is left as it is, for each is an update") {
  auto times = items_of(3, 3);
  times.rules.slots = 4;
  CHECK(advice(times, judged(times)).change == Change::none);
}

// Each step one worker's slots take twice as long, each time another's.
JobTimes scattered() {
  auto times = job_of(4, 4);
  times.step = 200'000;
  for (std::size_t step = 0; step < times.steps; ++step) {
    times.workers[step % 4].slots[step][0] *= 2;
  }
  return times;
}

TEST_CASE("advice: slots that scatter far want a job in which nobody waits for the last") {
  auto times = scattered();
  times.is_sync = true;
  const auto told = advice(times, judged(times));
  CHECK(told.change == Change::ssp);
  CHECK(told.number == 9);  // for slots of which some take twice as long: docs/modes.md
  CHECK(told.gain == doctest::Approx(2 / 1.25).epsilon(0.03));
}

TEST_CASE("advice: ssp is not said where it gains little more than what keeps the bits, nor where there is none") {
  auto times = scattered();
  CHECK(advice(times, judged(times)).change != Change::ssp);  // of local training, or not known
  times.is_sync = true;
  CHECK(advice(times, judged(times, {{Cause::data, "worker w1", 2, 1.5, 1.5}})).change != Change::ssp);
  times.decisions.assign(times.steps, 100);
  CHECK(advice(times, judged(times)).change != Change::ssp);
}

}  // namespace
}  // namespace ballast::insight
