#include "insight/replay.h"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>

#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

// Some moments pass between processes.
bool is_about(std::optional<double> value, double expected) {
  return value && std::abs(*value - expected) < 0.01 * expected;
}

TEST_CASE("replay: a step of workers that are alike takes as long as the slots of each") {
  CHECK(is_about(replay(job_of(4, 16)), 4 * kSlot));
  CHECK(is_about(replay(job_of(1, 3)), 3 * kSlot));
}

TEST_CASE("replay: all wait for the slow one, unless the lead divides by speed or moves slots") {
  auto times = job_of(4, 16);
  slow_down(times.workers[2], 2);
  CHECK(is_about(replay(times), 8 * kSlot));
  times.rules.by_speed = true;
  const auto divided = replay(times).value();
  CHECK(divided < 5.1 * kSlot);
  CHECK(divided > 16 / 3.5 * kSlot);
  times.rules.by_speed = false;
  times.rules.redistributes = true;
  CHECK(replay(times).value() < 6.2 * kSlot);
  CHECK(replay(times).value() > 4.9 * kSlot);
}

TEST_CASE("replay: what goes over a link takes its time after what it comes from, both ways") {
  auto times = job_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = 10;  // two chunks of a second a tenth each
  }
  CHECK(is_about(replay(times), 4 * kSlot + 200'000));
  times.workers[0].down = 5;
  CHECK(is_about(replay(times), 4 * kSlot + 500'000));  // the first one comes while the second goes
  times.workers[1].delay = 30'000;
  times.workers[1].down = 5;
  CHECK(is_about(replay(times), 4 * kSlot + 560'000));
}

TEST_CASE("replay: a word to the lead waits behind gradients that are on their way, and so does what it leads to") {
  auto times = job_of(2, 8);
  times.rules.redistributes = true;
  slow_down(times.workers[0], 3);
  for (auto& worker : times.workers) {
    worker.up = 20;
  }
  const auto at_once = replay(times).value();
  times.workers[1].queue_up = 90'000;  // it is done first, and is given what the other has not begun
  CHECK(replay(times).value() > at_once + 40'000);
  times.workers[1].queue_up = 0;
  times.workers[1].queue_down = 90'000;
  CHECK(is_about(replay(times), at_once));  // no weights come at that time
}

TEST_CASE("replay: gradients that are ready sooner leave beside what is still computed") {
  auto times = job_of(1, 1);
  times.workers[0].up = 20;
  times.workers[0].ready = {0.25, 1};
  CHECK(is_about(replay(times), kSlot + 50'000));
}

TEST_CASE("replay: what workers send goes one after the other over the link of a shard, and over that of all") {
  auto times = job_of(4, 16);
  times.shards[0].in = 10;
  CHECK(is_about(replay(times), 4 * kSlot + 800'000));
  times.shards[0] = {};
  times.servers.out = 20;
  CHECK(is_about(replay(times), 4 * kSlot + 400'000));
}

TEST_CASE("replay: copies for all workers leave at once, and what comes of two shards does not wait for each other") {
  auto times = job_of(4, 4);
  times.rules.chunks = 5;
  times.bytes = {kChunkBytes, 0, 0, 0, kChunkBytes};  // so that both shards serve workers in the same order
  times.lane_of = {0, 0, 0, 0, 1};
  times.sum = times.apply = {0, 0, 0, 0, 0};
  times.lanes.push_back({.name = "shard 1 lane 0", .process = kLaneProcess + 1, .shard = 1});
  times.shards = {{}, {}};
  for (auto& shard : times.shards) {
    shard.out = 40;  // a copy takes 25 ms, and all of them 100
  }
  for (auto& worker : times.workers) {
    worker.ready = {1, 1, 1, 1, 1};
    worker.down = 40;
  }
  CHECK(is_about(replay(times), kSlot + 100'000));
}

TEST_CASE("replay: a lane sums and updates one thing after the other") {
  auto times = job_of(2, 4);
  times.lanes[0].message = 1'000;
  times.sum = {10'000, 10'000};
  times.apply = {5'000, 5'000};
  CHECK(is_about(replay(times), 2 * kSlot + 4 * 11'000 + 2 * 5'000));
}

TEST_CASE("replay: an update that waits for the lead is as late as its word") {
  auto times = job_of(2, 4);
  times.decisions.assign(times.steps, 50'000);
  CHECK(is_about(replay(times), 2 * kSlot + 50'000));
}

TEST_CASE("replay: a worker waits for its examples where reading them takes longer than computing them") {
  auto times = job_of(2, 8);
  times.workers[1].fetch = 1.5 * kSlot;
  CHECK(is_about(replay(times), 6 * kSlot));
  times.workers[1].fetch = 0.9 * kSlot;
  CHECK(is_about(replay(times), 4 * kSlot));
}

TEST_CASE("replay: slots take what they took, in their order") {
  auto times = job_of(2, 4);
  times.workers[1].slots[3][1] += 10 * kSlot;
  CHECK(is_about(replay(times), 2 * kSlot + 10 * kSlot / 10));
}

TEST_CASE(
    "replay: what takes no time at all ends, and where nobody computes, or a step would last for ever, none is told") {
  auto times = job_of(2, 4);
  for (auto& worker : times.workers) {
    slow_down(worker, 0);
  }
  REQUIRE(replay(times));
  CHECK(*replay(times) < 0.1 * kSlot);
  times = job_of(2, 4);
  times.workers.clear();
  CHECK_FALSE(replay(times));
  times = job_of(2, 4);
  times.steps = 0;
  CHECK_FALSE(replay(times));
  times = job_of(2, 4);
  times.workers[0].up = 1e-9;
  CHECK_FALSE(replay(times));
  times = job_of(2, 4);
  times.workers[0].slots[2][0] = 1e15;  // after ten seconds the other one computes it
  CHECK(replay(times).value() < 1'500'000);
  CHECK(replay(times).value() > 1'000'000);
}

TEST_CASE("replay: a link on which nothing takes time keeps nobody waiting for another one") {
  auto times = job_of(2, 4);
  times.lanes.push_back({.name = "shard 1 lane 0", .shard = 1});
  times.lane_of = {0, 1};
  times.shards = {{10, 0}, {100, 0}};
  times.lanes[1].message = 300'000;
  // Both are there after 20 ms at the second, and summed after 620; at the first after 200.
  CHECK(is_about(replay(times), 2 * kSlot + 10'000 + 600'000));
}

TEST_CASE("replay: a worker that waits for its examples is as slow to the lead as it is, and no later than that") {
  auto times = job_of(2, 8);
  times.rules.by_speed = true;
  times.rules.redistributes = true;
  times.workers[1].fetch = 2 * kSlot;
  const auto takes = replay(times).value();
  CHECK(takes < 6.1 * kSlot);  // two of eight, or three
  CHECK(takes > 4.9 * kSlot);
}

TEST_CASE("replay: the lead learns by itself that a link is slow, and gives that worker less") {
  auto times = job_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = 100;
    worker.down = 100;
  }
  times.workers[1].up = 4;
  const auto even = replay(times).value();
  CHECK(even > 4 * kSlot + 400'000);
  times.rules.by_speed = true;
  times.rules.redistributes = true;
  CHECK(replay(times).value() < even - kSlot);
  CHECK(replay(times).value() > 16 / 3.5 * kSlot);
}

}  // namespace
}  // namespace ballast::insight
