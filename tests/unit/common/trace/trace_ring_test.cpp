#include "common/trace/trace_ring.h"

#include <doctest/doctest.h>

#include <random>
#include <thread>

namespace ballast {
namespace {

TraceRecord of_step(Step step, ChunkId chunk = 0) {
  TraceRecord record;
  record.step = step;
  record.chunk = chunk;
  return record;
}

std::vector<Step> steps_of(const std::vector<TraceRecord>& records) {
  std::vector<Step> steps;
  for (const auto& record : records) {
    steps.push_back(record.step);
  }
  return steps;
}

TEST_CASE("trace ring: an empty one has nothing") {
  const TraceRing ring(4);
  const auto part = ring.read(0, 10);
  CHECK(part.records.empty());
  CHECK(part.next == 1);
  CHECK(part.lost == 0);
  CHECK(part.ends);
  CHECK(ring.beginning(0) == 1);
  CHECK(ring.beginning(5) == 1);
}

TEST_CASE("trace ring: parts follow each other") {
  TraceRing ring(8);
  for (Step step = 0; step < 5; ++step) {
    ring.add(of_step(step));
  }
  const auto first = ring.read(0, 3);
  CHECK(steps_of(first.records) == std::vector<Step>{0, 1, 2});
  CHECK_FALSE(first.ends);
  const auto second = ring.read(first.next, 3);
  CHECK(steps_of(second.records) == std::vector<Step>{3, 4});
  CHECK(second.ends);
  CHECK(second.lost == 0);
  ring.add(of_step(5));
  CHECK(steps_of(ring.read(second.next, 3).records) == std::vector<Step>{5});
}

TEST_CASE("trace ring: the oldest give way, and who follows is told how many it has missed") {
  TraceRing ring(4);
  for (Step step = 0; step < 10; ++step) {
    ring.add(of_step(step));
  }
  CHECK(steps_of(ring.read(0, 100).records) == std::vector<Step>{6, 7, 8, 9});
  CHECK(ring.read(0, 100).lost == 0);  // it has not begun before
  const auto part = ring.read(3, 2);
  CHECK(steps_of(part.records) == std::vector<Step>{6, 7});
  CHECK(part.lost == 4);  // positions 3 to 6
}

TEST_CASE("trace ring: a position that is not there yet is the end") {
  TraceRing ring(4);
  ring.add(of_step(1));
  const auto part = ring.read(1'000'000, 10);
  CHECK(part.records.empty());
  CHECK(part.next == 2);
  CHECK(part.ends);
}

TEST_CASE("trace ring: it can be read from a step on") {
  TraceRing ring(16);
  for (const Step step : {0, 1, 2, 2, 1, 3, 3}) {
    ring.add(of_step(step));
  }
  CHECK(steps_of(ring.read(ring.beginning(2), 10).records) == std::vector<Step>{2, 2, 1, 3, 3});
  CHECK(ring.beginning(0) == 1);
  CHECK(ring.beginning(4) == 8);
}

// Whatever the order of steps, and wherever the ring begins: nothing of the step or a later one stands before it.
TEST_CASE("trace ring: nothing is missed of what a beginning promises") {
  std::mt19937_64 random(3);
  for (const std::size_t capacity : {1U, 7U, 256U, 300U, 1'000U, 4'096U}) {
    TraceRing ring(capacity);
    for (std::uint64_t added = 0; added < 3 * capacity + 5; ++added) {
      ring.add(of_step(added / 50 + random() % 5));
      if (random() % 40 != 0) {
        continue;
      }
      const Step step = added / 50 + random() % 7;
      const auto all = ring.read(1, capacity);
      const auto from = ring.beginning(step);
      for (std::size_t i = 0; i < all.records.size(); ++i) {
        if (all.records[i].step >= step) {
          CHECK(from <= all.next - all.records.size() + i);
          break;
        }
      }
      const auto part = ring.read(from, 1);
      CHECK((part.records.empty() || part.records.front().step >= step));
    }
  }
}

TEST_CASE("trace ring: a part is of a bounded size, and the next one follows") {
  TraceRing ring(TraceRing::kOfProcess);
  for (Step step = 0; step < 2000; ++step) {
    ring.add(of_step(step / 100));
  }
  TraceAsked asked;
  asked.number = 7;
  asked.first = 10;
  std::vector<Step> read;
  for (bool ends = false; !ends;) {
    const auto part = part_of(ring, asked);
    CHECK(part.number == 7);
    CHECK(part.records.size() <= 512);
    for (const auto step : steps_of(part.records)) {
      read.push_back(step);
    }
    asked.from = part.next;
    ends = part.ends;
  }
  REQUIRE(read.size() == 1000);
  CHECK(read.front() == 10);
}

TEST_CASE("trace ring: threads may add while one reads") {
  TraceRing ring(64);
  std::vector<std::jthread> threads;
  for (ChunkId thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&ring, thread] {
      for (Step step = 0; step < 1000; ++step) {
        ring.add(of_step(step, thread));
      }
    });
  }
  std::uint64_t from = 1;
  std::uint64_t seen = 0;
  while (from <= 3000) {
    const auto part = ring.read(from, 16);
    seen += part.records.size() + part.lost;
    from = part.next;
  }
  CHECK(seen == 3000);
}

}  // namespace
}  // namespace ballast
