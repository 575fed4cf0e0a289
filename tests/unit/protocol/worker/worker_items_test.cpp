// Items: grants, and what becomes of those that expire.
#include "protocol/worker/worker.h"
#include "tests/unit/protocol/worker/worker_fixture.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("a session of single items asks for more grants before the one in hand is its last") {
  WorkerFixture fixture(ItemWork::Rules{});
  fixture.lead(Assign{{1, ++fixture.order}, 1, 1, {}, {}, {{{0, {1, 11}}, {1, {1, 12}}, {2, {1, 13}}, {3, {1, 14}}}}});
  std::vector<std::vector<LeadNumber>> delivered;  // as told at the receipts of each item
  for (Slot slot = 0; slot < 3; ++slot) {
    for (ChunkId chunk = 0; chunk < 2; ++chunk) {
      fixture.lane(Weights{1, 1, chunk, slot, LeadNumber{1, std::uint64_t{11} + slot}}, ++fixture.payloads);
    }
    for (ChunkId chunk = 0; chunk < 2; ++chunk) {
      const auto pushes = to_lane<Push>(
          fixture.worker.step(worker::GradientReady{0, {slot, slot + 1}, chunk, 1 + chunk, kNoSlot, true}));
      REQUIRE(pushes.size() == 1);
      CHECK(pushes[0].items.clock ==
            LeadNumber{1, std::uint64_t{12} + slot});  // the pull of the next one's weights goes with it
    }
    fixture.worker.step(worker::Computed{0, {}});
    delivered.emplace_back();
    for (ChunkId chunk = 0; chunk < 2; ++chunk) {
      const auto actions = fixture.lane(Receipt{1, 0, chunk, {slot, slot + 1}, ReceiptOutcome::accepted});
      for (const auto& sent : all<worker::SendToLead>(actions)) {
        delivered.back() = std::get<Heartbeat>(sent.message).delivered;
      }
    }
  }
  using Clocks = std::vector<LeadNumber>;
  CHECK(delivered[0].empty());  // three are left: nothing is urgent
  CHECK(delivered[1] == Clocks{{1, 11}, {1, 12}});
  CHECK(delivered[2] == Clocks{{1, 11}, {1, 12}, {1, 13}});
}

TEST_CASE("an item that a new lead grants again releases what its first computation left without a receipt") {
  WorkerFixture fixture;
  WorkerLayout layout;
  layout.slots = 4;
  layout.mode = ItemWork::Rules{};
  layout.chunks = {{0, 0, 100}};
  layout.lanes = 1;
  fixture.worker.step(worker::Prepared{layout});
  fixture.lane(LaneWelcome{1, 1, 1'000});
  const auto compute = [&](LeadNumber clock, PayloadId payload) {
    fixture.lead(Assign{{1, ++fixture.order}, 1, 1, {}, {}, {{{2, clock}}}});
    fixture.lane(Weights{1, 1, 0, 0, clock}, ++fixture.payloads);
    auto actions = fixture.worker.step(worker::GradientReady{0, {2, 3}, 0, payload, kNoSlot, true});
    fixture.worker.step(worker::Computed{0, {}});
    return actions;
  };
  REQUIRE(to_lane<Push>(compute({1, 50}, 7)).size() == 1);
  const auto actions = compute({2, 50}, 8);
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(all<worker::Release>(actions)[0].payload == 7);
  CHECK(to_lane<Push>(actions).size() == 1);
  CHECK(fixture.worker.outstanding() == 1);
}

namespace {

// Two lanes of a chunk each; items 0 and 1 are granted, and item 0's weights are there.
struct TwoParts {
  explicit TwoParts(std::size_t chunks = 2) : worker(WorkerFixture::config()) {
    worker.step(worker::Tick{5'000'000});
    lead(WorkerWelcome{1, "job", "spec", "layout", 2, 1, {{{0, 0}, 1, "here"}, {{1, 0}, 1, "there"}}});
    WorkerLayout layout;
    layout.slots = 4;
    for (ChunkId chunk = 0; chunk < chunks; ++chunk) {
      layout.chunks.push_back({chunk, chunk % 2, 20});
    }
    layout.lanes = 2;
    layout.mode = ItemWork::Rules{true};
    worker.step(worker::Prepared{layout});
    lane(0, LaneWelcome{1, 1, 1'000});
    lane(1, LaneWelcome{1, 1, 1'000});
    lead(Assign{{1, 1}, 1, 0, {}, {}, {{{0, {1, 11}}, {1, {1, 12}}}}});
  }
  void arrive(LeadNumber clock) {
    for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
      lane(chunk, Weights{1, 1, chunk, 5, clock, 3}, ++payloads);
    }
  }
  worker::Actions lead(const Message& message) { return worker.step(worker::FromLead{&message}); }
  worker::Actions lane(std::uint32_t lane, const Message& message, PayloadId payload = kNoPayload) {
    return worker.step(worker::FromLane{lane, &message, payload});
  }
  worker::Actions part(Slot slot, ChunkId chunk, PayloadId payload) {
    return worker.step(worker::GradientReady{0, {slot, slot + 1}, chunk, payload, kNoSlot, true});
  }
  worker::Actions receipt(Slot slot, ChunkId chunk, ReceiptOutcome outcome) {
    return lane(chunk, Receipt{1, 0, chunk, {slot, slot + 1}, outcome});
  }

  Worker worker;
  PayloadId payloads = 100;
};

}  // namespace

TEST_CASE("of an item that has expired at one chunk nothing is sent to the others any more, and the lead is told") {
  TwoParts at;
  at.arrive({1, 11});
  at.part(0, 1, 11);
  at.part(0, 0, 10);
  at.worker.step(worker::Computed{0, {}});
  CHECK(at.worker.outstanding() == 2);
  const auto actions = at.receipt(0, 1, ReceiptOutcome::expired);
  CHECK(at.worker.outstanding() == 0);
  CHECK(at.worker.counters().expired == 1);
  CHECK(all<worker::Release>(actions).size() == 2);
  const auto beat = beat_of(actions);
  REQUIRE(beat.has_value());
  CHECK(beat->delivered.empty());
  CHECK(beat->dropped == std::vector<LeadNumber>{{1, 11}});
  // The other part was on its way, and is answered as well.
  CHECK(at.receipt(0, 0, ReceiptOutcome::accepted).empty());
  // What was asked for along with a part that is dropped is asked for again at once.
  const auto pulls = to_lane<Pull>(actions);
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, kNewestVersion, {0}, LeadNumber{1, 12}});
}

TEST_CASE("of an item that expires while it is computed the parts to come are not sent, and others of the next are") {
  TwoParts at;
  at.arrive({1, 11});
  at.part(0, 1, 11);
  const auto beat = beat_of(at.receipt(0, 1, ReceiptOutcome::expired));
  REQUIRE(beat.has_value());
  CHECK(beat->dropped == std::vector<LeadNumber>{{1, 11}});
  const auto late = at.part(0, 0, 10);
  CHECK(to_lane<Push>(late).empty());
  REQUIRE(all<worker::Release>(late).size() == 1);
  CHECK(all<worker::Release>(late)[0].payload == 10);
  CHECK(to_lane<Pull>(at.worker.step(worker::Computed{0, {}})).size() == 1);  // of what no part has asked for
  at.arrive({1, 12});
  CHECK(to_lane<Push>(at.part(1, 1, 21)).size() == 1);
  CHECK(to_lane<Push>(at.part(1, 0, 20)).size() == 1);
}

TEST_CASE("an item that was dropped is computed anew when it is granted again") {
  TwoParts at;
  at.arrive({1, 11});
  at.part(0, 1, 11);
  at.part(0, 0, 10);
  at.worker.step(worker::Computed{0, {}});
  at.receipt(0, 1, ReceiptOutcome::expired);
  at.lead(Assign{{1, 2}, 1, 0, {}, {}, {{{0, {1, 13}}}}});
  at.arrive({1, 13});
  CHECK(to_lane<Push>(at.part(0, 1, 31)).size() == 1);
  CHECK(to_lane<Push>(at.part(0, 0, 30)).size() == 1);
  at.worker.step(worker::Computed{0, {}});
  at.receipt(0, 0, ReceiptOutcome::duplicate);
  const auto beat = beat_of(at.receipt(0, 1, ReceiptOutcome::accepted));
  REQUIRE(beat.has_value());
  CHECK(beat->delivered == std::vector<LeadNumber>{{1, 13}});
  CHECK(beat->dropped.empty());
}

TEST_CASE("an item whose weights are of more lives than a contribution can name is not computed, but given up") {
  TwoParts at(kMaxMarks + 1);
  worker::Actions actions;
  for (ChunkId chunk = 0; chunk <= kMaxMarks; ++chunk) {
    actions = at.lane(chunk % 2, Weights{1, 1 + chunk, chunk, 5, LeadNumber{1, 11}, 3}, ++at.payloads);
  }
  CHECK(all<worker::Compute>(actions).empty());
  const auto beat = beat_of(actions);
  REQUIRE(beat.has_value());
  CHECK(beat->dropped == std::vector<LeadNumber>{{1, 11}});
  const auto pulls = to_lane<Pull>(actions);
  REQUIRE(pulls.size() == 2);
  CHECK(pulls[0].clock == LeadNumber{1, 12});
}
