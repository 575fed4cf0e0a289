#include <doctest/doctest.h>

#include <cmath>
#include <optional>

#include "insight/replay.h"
#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

// Words to the lead and back take some moments, and a burst of items is more or less.
bool comes_to(std::optional<double> value, double expected) {
  return value && std::abs(*value - expected) < 0.02 * expected;
}

TEST_CASE("replay of items: workers that are alike bring as many as they compute") {
  CHECK(comes_to(replay(items_of(4, 16)), 4 * kSlot));
  CHECK(comes_to(replay(items_of(1, 3)), 3 * kSlot));
  CHECK(comes_to(replay(items_of(3, 1)), kSlot / 3));
}

TEST_CASE("replay of items: one that is slow costs what it does not bring, and nobody waits for it") {
  auto times = items_of(4, 16);
  slow_down(times.workers[2], 2);
  CHECK(comes_to(replay(times), 16 / 3.5 * kSlot));
}

TEST_CASE("replay of items: a bound of staleness lets so many be granted for one of the slowest") {
  const auto of = [](std::uint32_t bound) {
    auto times = items_of(4, 16, {bound, 1});
    slow_down(times.workers[2], 4);
    return replay(times);
  };
  // Beside one of 400 ms the bound and that one itself; a wide one keeps nobody waiting (docs/modes.md).
  CHECK(comes_to(of(6), 16.0 / 7 * 4 * kSlot));
  CHECK(comes_to(of(15), 16 / 3.25 * kSlot));
}

TEST_CASE("replay of items: an item waits for its gradients to get there and for weights to come back") {
  auto times = items_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = 10;  // two chunks of a tenth of a second each
  }
  CHECK(comes_to(replay(times), 4 * (kSlot + 200'000)));
  for (auto& worker : times.workers) {
    worker.ready = {0, 1};  // the first goes while the slot is computed
  }
  CHECK(comes_to(replay(times), 4 * (kSlot + 100'000)));
  for (auto& worker : times.workers) {
    worker.down = 10;  // the first comes while the second goes
  }
  CHECK(comes_to(replay(times), 4 * (kSlot + 200'000)));
  times.workers[0].delay = 30'000;
  CHECK(comes_to(replay(times), 16 / (3 / 0.3 + 1 / 0.36) * 1e6));
}

TEST_CASE("replay of items: who knows the next item as the one before is done asks for its weights with the last") {
  auto times = items_of(4, 16, {0, 1});
  for (auto& worker : times.workers) {
    worker.delay = 10'000;
  }
  // The gradient goes, and is answered by the receipt; so is the word to the lead; so is the question for weights.
  CHECK(comes_to(replay(times), 4 * (kSlot + 60'000)));
  times.items->ahead = 4;
  CHECK(comes_to(replay(times), 4 * (kSlot + 20'000)));
}

TEST_CASE("replay of items: each waits for the journal of the slowest of its shards") {
  auto times = items_of(4, 16);
  times.lanes[0].journal = 50'000;
  CHECK(comes_to(replay(times), 4 * (kSlot + 50'000)));
  times.lanes.push_back({.name = "shard 1 lane 0", .shard = 1});
  times.shards.push_back({});
  times.lane_of = {0, 1};
  times.lanes[1].journal = 80'000;
  CHECK(comes_to(replay(times), 4 * (kSlot + 80'000)));
}

TEST_CASE("replay of items: a lane that does one thing after the other is as fast as it is") {
  auto times = items_of(4, 16);
  times.lanes[0].message = 10'000;
  times.apply = {20'000, 10'000};
  CHECK(comes_to(replay(times), 16 * 50'000));
}

TEST_CASE("replay of items: what workers send goes one after the other over the links that they share") {
  auto times = items_of(4, 16);
  times.servers.in = 20;
  CHECK(comes_to(replay(times), 16 * 100'000));
  times.servers = {};
  times.shards[0].out = 10;
  CHECK(comes_to(replay(times), 16 * 200'000));
}

TEST_CASE("replay of items: a worker waits for its examples each time, and slots take what they took") {
  auto times = items_of(2, 8);
  times.workers[1].fetch = kSlot;
  CHECK(comes_to(replay(times), 8 / 1.5 * kSlot));
  times.workers[1].fetch = 0;
  times.workers[1].slots[3][1] += 8 * kSlot;  // 80 items in 4.4 s
  CHECK(replay(times).value() > 4.2 * kSlot);
  CHECK(replay(times).value() < 4.6 * kSlot);
}

TEST_CASE("replay of items: what takes no time at all ends, and of what would last for ever none is told") {
  auto times = items_of(2, 4);
  for (auto& worker : times.workers) {
    slow_down(worker, 0);
  }
  CHECK(replay(times).value() < 0.1 * kSlot);
  times = items_of(2, 4);
  for (auto& worker : times.workers) {
    worker.up = 1e-9;
  }
  CHECK_FALSE(replay(times));
  times.workers.clear();
  CHECK_FALSE(replay(times));
}

}  // namespace
}  // namespace ballast::insight
