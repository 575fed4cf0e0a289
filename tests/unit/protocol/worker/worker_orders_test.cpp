// Work that changes while it is computed, and what the lead is told of it.
#include "protocol/worker/worker.h"
#include "tests/unit/protocol/worker/worker_fixture.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// One that computes slots 0 and 1 of step 0.
class Sharing : public WorkerFixture {
 public:
  Sharing() {
    assign(2);
    weights(0, 0);
    weights(1, 0);
  }
  worker::Actions order(std::optional<StepWork> work, Micros beats_apart = 0) {
    return lead(Assign{{1, ++number_}, 1, 1, {}, {{0, 2, {0, 2}}, std::move(work)}, {}, beats_apart});
  }
  // So much after the last tick.
  worker::Actions begins(Slot slot, Micros after) { return worker.step(worker::SlotBegun{0, slot}, now + after); }

 private:
  std::uint64_t number_ = 100;
};

}  // namespace

TEST_CASE("an order for other slots of the step in hand amends the computation, and new slots are read ahead") {
  Sharing at;
  at.begins(0, 1);
  auto actions = at.order(StepWork{0, {{0, 1}}});
  REQUIRE(all<worker::Amend>(actions).size() == 1);
  CHECK(all<worker::Amend>(actions)[0].step == 0);
  CHECK(all<worker::Amend>(actions)[0].ranges == std::vector<SlotRange>{{0, 1}});
  CHECK(all<worker::Prefetch>(actions).empty());
  actions = at.order(StepWork{0, {{0, 1}, {3, 4}}});
  REQUIRE(all<worker::Amend>(actions).size() == 1);
  CHECK(all<worker::Amend>(actions)[0].ranges == std::vector<SlotRange>{{0, 1}, {3, 4}});
  REQUIRE(all<worker::Prefetch>(actions).size() == 1);
  CHECK(all<worker::Prefetch>(actions)[0].ranges == std::vector<SlotRange>{{3, 4}});
  CHECK(all<worker::Compute>(actions).empty());
}

TEST_CASE("an order that leaves the slots in hand as they are amends nothing") {
  Sharing at;
  CHECK(all<worker::Amend>(at.order(StepWork{0, {{0, 2}}})).empty());
  CHECK(all<worker::Amend>(at.order(std::nullopt)).empty());
}

TEST_CASE("a slot that is in hand can be taken back, and nothing of it is computed again") {
  Sharing at;
  at.begins(0, 1);
  at.begins(1, 2);
  auto actions = at.order(StepWork{0, {{0, 1}}});
  REQUIRE(all<worker::Amend>(actions).size() == 1);
  CHECK(all<worker::Amend>(actions)[0].ranges == std::vector<SlotRange>{{0, 1}});
  at.worker.step(worker::Computed{0, {}}, at.now + 3);
  CHECK(all<worker::Compute>(at.order(StepWork{0, {{0, 2}}})).empty());
  actions = at.order(StepWork{0, {{1, 3}}});
  REQUIRE_FALSE(all<worker::Prefetch>(actions).empty());
  CHECK(all<worker::Prefetch>(actions)[0].ranges == std::vector<SlotRange>{{2, 3}});
}

TEST_CASE("what was not begun when a computation ended is not done") {
  Sharing at;
  at.begins(0, 1);
  at.order(StepWork{0, {{0, 1}}});
  at.worker.step(worker::Computed{0, {}}, at.now + 2);
  const auto actions = at.order(StepWork{0, {{0, 2}}});
  REQUIRE_FALSE(all<worker::Prefetch>(actions).empty());
  CHECK(all<worker::Prefetch>(actions)[0].ranges == std::vector<SlotRange>{{1, 2}});
}

TEST_CASE("with a newer timeline nothing of the computation in hand is wanted, and its slots are told no more") {
  Sharing at;
  at.begins(0, 1);
  at.lead(welcome(2, 1, "here"));
  const auto actions = at.lead(Assign{{1, 200}, 2, 2, {}, {{0, 2, {0, 2}}, {}}, {}});
  REQUIRE(all<worker::Amend>(actions).size() == 1);
  CHECK(all<worker::Amend>(actions)[0].ranges.empty());
  CHECK_FALSE(beat_of(at.begins(1, 100 * kWorkerMilli)).has_value());
  const auto beat = beat_of(at.tick(200 * kWorkerMilli));
  REQUIRE(beat.has_value());
  CHECK(beat->progress.begun == 0);
  CHECK(beat->progress.in_hand == kNoSlot);
}

TEST_CASE("the lead is told of each slot that is begun, and of the end") {
  Sharing at;
  at.tick(30 * kWorkerMilli);
  auto beat = beat_of(at.begins(0, 1 * kWorkerMilli));
  REQUIRE(beat.has_value());
  CHECK(beat->progress.step == 0);
  CHECK(beat->progress.in_hand == 0);
  CHECK(beat->progress.computed.empty());
  CHECK(beat->progress.slot_time == 0);
  beat = beat_of(at.begins(1, 13 * kWorkerMilli));
  REQUIRE(beat.has_value());
  CHECK(beat->progress.in_hand == 1);
  CHECK(beat->progress.computed == std::vector<SlotRange>{{0, 1}});
  CHECK(beat->progress.slot_time == 12 * kWorkerMilli);
  CHECK(beat->progress.begun == 12 * kWorkerMilli);
  beat = beat_of(at.worker.step(worker::Computed{0, {}}, at.now + 29 * kWorkerMilli));
  REQUIRE(beat.has_value());
  CHECK(beat->progress.in_hand == kNoSlot);
  CHECK(beat->progress.computed == std::vector<SlotRange>{{0, 2}});
  CHECK(beat->progress.slot_time == 16 * kWorkerMilli);
}

TEST_CASE("heartbeats that tell of slots are 10 ms apart, or as far as the lead asks for") {
  Sharing at;
  at.order(std::nullopt);
  REQUIRE(beat_of(at.begins(0, 20 * kWorkerMilli)).has_value());
  CHECK_FALSE(beat_of(at.begins(1, 29 * kWorkerMilli)).has_value());
  CHECK(beat_of(at.begins(2, 30 * kWorkerMilli)).has_value());
  at.order(std::nullopt, 25 * kWorkerMilli);
  CHECK_FALSE(beat_of(at.begins(3, 54 * kWorkerMilli)).has_value());
  CHECK(beat_of(at.begins(3, 55 * kWorkerMilli)).has_value());
}

TEST_CASE("while it computes a worker is heard of more often, and tells how long its slot takes already") {
  Sharing at;
  at.begins(0, 20 * kWorkerMilli);
  CHECK_FALSE(beat_of(at.tick(69 * kWorkerMilli)).has_value());
  const auto beat = beat_of(at.tick(1 * kWorkerMilli));
  REQUIRE(beat.has_value());
  CHECK(beat->progress.in_hand_for == 50 * kWorkerMilli);
}

TEST_CASE("the lead is told what waits for its receipt, and how fast a worker's bytes get through") {
  Sharing at;
  at.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, kNoSlot, true}, at.now + 1 * kWorkerMilli);
  auto beat = beat_of(at.tick(60 * kWorkerMilli));
  REQUIRE(beat.has_value());
  CHECK(beat->progress.without_receipt == 100);
  CHECK(beat->progress.up == 0);
  const Message receipt = Receipt{1, 0, 0, {0, 2}, ReceiptOutcome::accepted};
  at.worker.step(worker::FromLane{0, &receipt, kNoPayload}, at.now + 1 * kWorkerMilli);
  beat = beat_of(at.tick(200 * kWorkerMilli));
  REQUIRE(beat.has_value());
  CHECK(beat->progress.without_receipt == 0);
  CHECK(beat->progress.up == 1'666);  // 100 bytes in 60 ms
}
