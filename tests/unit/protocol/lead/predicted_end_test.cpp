#include "protocol/lead/predicted_end.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "protocol/tree.h"

using namespace ballast;

namespace {

constexpr auto kLastMoment = std::numeric_limits<Micros>::max();

// Chunk by chunk, as the header says it.
double chunk_by_chunk(const SessionPace& pace, const StepSize& step, SlotRange run, Slot next, double begin,
                      double uplink_free) {
  const auto slot = static_cast<double>(pace.slot);
  const auto chunk = pace.up > 0 ? static_cast<double>(step.bytes) / step.chunks / pace.up : 0;
  auto free = uplink_free;
  for (const auto node : tree::cover(run, step.slots)) {
    for (std::uint32_t c = 1; c <= step.chunks; ++c) {
      auto ready = begin;
      if (node.end > next) {
        ready += (node.end - next) * slot - slot * 2 / 3 * (step.chunks - c) / step.chunks;
      }
      free = std::max(free, ready) + chunk;
    }
  }
  return free;
}

Micros predicted_end(const SessionPace& pace, const StepSize& step, SlotRange run, Slot next, Micros begin,
                     Micros uplink_free) {
  return EndPrediction(pace, step).end(run, next, begin, uplink_free);
}

}  // namespace

TEST_CASE("a range ends with its last slot where sending takes no time") {
  const SessionPace pace{.slot = 100};
  const StepSize step{.slots = 8, .bytes = 1000, .chunks = 4};
  CHECK(predicted_end(pace, step, {2, 5}, 2, 40, 0) == 340);
  CHECK(predicted_end(pace, step, {2, 5}, 4, 40, 0) == 140);
  CHECK(predicted_end(pace, step, {2, 5}, 5, 40, 0) == 40);
  CHECK(predicted_end(pace, step, {2, 2}, 2, 40, 7000) == 40);
  for (const auto up : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    CHECK(predicted_end({.slot = 100, .up = up}, step, {2, 5}, 2, 40, 0) == 340);
  }
}

TEST_CASE("a node's chunks leave during the last two thirds of its last slot, the last one after it") {
  // A node takes 80 microseconds; its chunks are ready 50, 33.3, 16.7 and 0 microseconds before the slot's end.
  const SessionPace pace{.slot = 100, .up = 10};
  const StepSize step{.slots = 8, .bytes = 800, .chunks = 4};
  CHECK(predicted_end(pace, step, {0, 4}, 0, 0, 0) == 430);
  CHECK(predicted_end(pace, {.slots = 8, .bytes = 800, .chunks = 1}, {0, 4}, 0, 0, 0) == 480);
  CHECK(predicted_end({.slot = 100, .up = 80}, step, {0, 4}, 0, 0, 0) == 403);  // 2.5, rounded up
  // What is computed already leaves at once, before what is still to be computed.
  CHECK(predicted_end(pace, step, {0, 4}, 4, 1000, 0) == 1080);
  CHECK(predicted_end(pace, step, {0, 6}, 4, 1000, 0) == 1230);
  CHECK(predicted_end(pace, step, {0, 6}, 2, 1000, 0) == 1430);
  // All of it waits for what is queued.
  CHECK(predicted_end(pace, step, {0, 4}, 4, 1000, 1300) == 1380);
  CHECK(predicted_end(pace, step, {0, 4}, 0, 0, 900) == 980);
}

TEST_CASE("each node of a range is a model to send, and a slow link is what the range takes") {
  const SessionPace pace{.slot = 10, .up = 1};
  const StepSize step{.slots = 8, .bytes = 1000, .chunks = 10};
  CHECK(predicted_end(pace, step, {0, 4}, 0, 0, 0) == 34 + 1000);
  CHECK(predicted_end(pace, step, {1, 4}, 1, 0, 0) == 4 + 2000);  // [1, 2) and [2, 4)
  CHECK(predicted_end(pace, step, {1, 7}, 1, 0, 0) == 4 + 4000);  // and [4, 6), [6, 7)
  CHECK(predicted_end(pace, step, {1, 8}, 1, 0, 0) == 4 + 3000);  // [4, 8) is one
  CHECK(predicted_end(pace, {.slots = 7, .bytes = 1000, .chunks = 10}, {1, 7}, 1, 0, 0) == 4 + 3000);  // as is [4, 7)
}

TEST_CASE("the predicted end is that of the last chunk, sent one by one") {
  std::mt19937_64 random(20);
  const auto draw = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int i = 0; i < 20000; ++i) {
    const StepSize step{static_cast<Slot>(1 + draw(40)), draw(100000), static_cast<std::uint32_t>(1 + draw(9))};
    const SessionPace pace{0, draw(1000), draw(3) == 0 ? 0 : static_cast<double>(1 + draw(2000)) / 4};
    const auto begin = static_cast<Slot>(draw(step.slots - 1));
    const SlotRange run{begin, static_cast<Slot>(begin + 1 + draw(step.slots - begin - 1))};
    const auto next = static_cast<Slot>(run.begin + draw(run.size()));
    const auto opened = draw(5000);
    const auto free = draw(9000);
    const auto expected = chunk_by_chunk(pace, step, run, next, static_cast<double>(opened), static_cast<double>(free));
    const auto end = static_cast<double>(predicted_end(pace, step, run, next, opened, free));
    CAPTURE(i);
    REQUIRE(end >= expected - 1e-6);
    REQUIRE(end <= expected + 1 + 1e-6);
  }
}

TEST_CASE("an end that no clock tells is the last moment") {
  const StepSize step{.slots = 16384, .bytes = std::numeric_limits<std::uint64_t>::max(), .chunks = 1};
  const Micros hours = 10'000'000'000;
  CHECK(predicted_end({.slot = hours}, step, {0, 16384}, 0, 5, 0) == 16384 * hours + 5);
  CHECK(predicted_end({.slot = kLastMoment}, step, {0, 16384}, 0, 0, 0) == kLastMoment);
  CHECK(predicted_end({.slot = 1, .up = 1e-300}, step, {1, 16383}, 1, 0, 0) == kLastMoment);
  CHECK(predicted_end({.slot = 10}, step, {0, 1}, 0, kLastMoment - 3, 0) == kLastMoment);
  CHECK(predicted_end({.slot = 10}, step, {0, 1}, 0, 3, kLastMoment) == kLastMoment);
}

TEST_CASE("no range's tail is shorter than that of one node") {
  const StepSize step{.slots = 33, .bytes = 5000, .chunks = 5};
  for (const auto up : {0.0, 1.0, 3.0, 20.0, 1000.0}) {
    const SessionPace pace{.slot = 300, .up = up};
    const auto tail = EndPrediction(pace, step).shortest_tail();
    for (Slot begin = 0; begin < step.slots; ++begin) {
      for (Slot end = begin + 1; end <= step.slots; ++end) {
        const auto after = static_cast<double>(predicted_end(pace, step, {begin, end}, begin, 0, 0)) -
                           static_cast<double>(end - begin) * 300;
        REQUIRE(after >= tail - 1e-6);
        if (tree::is_node({begin, end}, step.slots)) {
          REQUIRE(after <= tail + 1);
        }
      }
    }
  }
}
