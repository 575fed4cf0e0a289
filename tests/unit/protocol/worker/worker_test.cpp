#include "protocol/worker/worker.h"
#include "tests/unit/protocol/states.h"
#include "tests/unit/protocol/worker/worker_fixture.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("a worker computes when all chunks of the version are there, and not before") {
  WorkerFixture fixture;
  const auto pulls = to_lane<Pull>(fixture.assign(2));
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 0, {0, 1}});
  auto actions = fixture.weights(0, 0);
  CHECK(all<worker::Store>(actions).size() == 1);
  CHECK(all<worker::Compute>(actions).empty());
  actions = fixture.weights(1, 0);
  const auto computes = all<worker::Compute>(actions);
  REQUIRE(computes.size() == 1);
  CHECK(computes[0].step == 0);
  CHECK(computes[0].ranges == std::vector<SlotRange>{{0, 2}});
}

TEST_CASE("an evaluation is of the averages, and training goes on from the weights") {
  WorkerFixture fixture({}, true);
  const Evaluation evaluation{Split::validation, 0, 2, 0, 10};
  auto pulls = to_lane<Pull>(fixture.lead(Assign{{1, ++fixture.order}, 1, 1, evaluation, {{2, 4, {0, 2}}, {}}, {}}));
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 2, {0, 1}, {}, true});
  CHECK(all<worker::Store>(fixture.weights(0, 2)).empty());  // not asked for: those that training left
  fixture.lane(Weights{1, 1, 0, 2, {}, 0, true}, ++fixture.payloads);
  auto actions = fixture.lane(Weights{1, 1, 1, 2, {}, 0, true}, ++fixture.payloads);
  CHECK(all<worker::Evaluate>(actions).size() == 1);
  actions = fixture.worker.step(worker::Evaluated{{1, Split::validation, 0, 2, 1.0, 5, 10}});
  CHECK(all<worker::Compute>(actions).empty());
  pulls = to_lane<Pull>(actions);
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 2, {0, 1}});
  fixture.weights(0, 2);
  CHECK(all<worker::Compute>(fixture.weights(1, 2)).size() == 1);
}

TEST_CASE("an average that is gone is asked for no more") {
  WorkerFixture fixture({}, true);
  const Evaluation evaluation{Split::validation, 0, 2, 0, 10};
  fixture.lead(Assign{{1, ++fixture.order}, 1, 1, evaluation, {{2, 4, {0, 2}}, {}}, {}});
  const auto pulls = to_lane<Pull>(fixture.lane(Gone{1, 0, 2, 3, true}));
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 2, {0, 1}});  // for training, of which the version may still be there
}

TEST_CASE("weights that nobody asked for are given up") {
  WorkerFixture fixture;
  fixture.assign(2);
  const auto actions = fixture.weights(0, 1);
  CHECK(all<worker::Store>(actions).empty());
  const auto releases = all<worker::Release>(actions);
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].payload == fixture.payloads);
}

TEST_CASE("weights that come during a computation are stored after it") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  auto actions = fixture.worker.step(worker::GradientReady{0, {0, 2}, 1, 7, kNoSlot, true});
  auto pushes = to_lane<Push>(actions);
  REQUIRE(pushes.size() == 1);
  CHECK(pushes[0].want_next);
  actions = fixture.weights(1, 1);
  CHECK(all<worker::Store>(actions).empty());
  // The next version of its chunk is a receipt for the gradient.
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(all<worker::Release>(actions)[0].payload == 7);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 8, kNoSlot, true});
  actions = fixture.worker.step(worker::Computed{0, {}});
  REQUIRE(all<worker::Store>(actions).size() == 1);
  CHECK(all<worker::Store>(actions)[0].version == 1);
}

TEST_CASE("a gradient is kept and sent again until its receipt comes") {
  WorkerFixture fixture;
  fixture.assign(1);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, kNoSlot, true});
  CHECK(fixture.worker.in_flight_bytes() == 100);
  CHECK(to_lane<Push>(fixture.tick(99 * kWorkerMilli)).empty());
  CHECK(to_lane<Push>(fixture.tick(1 * kWorkerMilli)).size() == 1);
  auto actions = fixture.lane(Receipt{1, 0, 0, {0, 1}, ReceiptOutcome::accepted});
  CHECK(all<worker::Release>(actions).empty());
  actions = fixture.lane(Receipt{1, 0, 0, {0, 2}, ReceiptOutcome::accepted});
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(fixture.worker.outstanding() == 0);
}

TEST_CASE("a lane that forgot the session is greeted again and sent everything again") {
  WorkerFixture fixture;
  fixture.assign(1);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, kNoSlot, true});
  fixture.lane(Refused{RefusalCode::unknown_session, "say hello first"});
  CHECK(fixture.worker.in_flight_bytes() == 0);
  CHECK(to_lane<LaneHello>(fixture.tick(1 * kWorkerMilli)).size() == 1);
  CHECK(to_lane<Push>(fixture.lane(LaneWelcome{1, 1, 1'000})).size() == 1);
}

TEST_CASE("a worker that the lead gave up says hello again") {
  WorkerFixture fixture;
  fixture.lead(Refused{RefusalCode::unknown_session, "say hello first"});
  bool said = false;
  for (const auto& send : all<worker::SendToLead>(fixture.tick(1 * kWorkerMilli))) {
    said = said || std::holds_alternative<WorkerHello>(send.message);
  }
  CHECK(said);
}

TEST_CASE("a worker leaves when the lead is silent, but not because it slept itself") {
  WorkerFixture fixture;
  CHECK(all<worker::Stop>(fixture.tick(60'000 * kWorkerMilli)).empty());
  worker::Actions actions;
  for (int i = 0; i < 12 && all<worker::Stop>(actions).empty(); ++i) {
    actions = fixture.tick(100 * kWorkerMilli);
  }
  REQUIRE(all<worker::Stop>(actions).size() == 1);
  CHECK(all<worker::Stop>(actions)[0].failure.find("lead") != std::string::npos);
}

TEST_CASE("a worker that fails says goodbye, and ends as the failure is") {
  for (const auto& failed :
       {worker::Failed{"a disk"}, worker::Failed{"no backend", true}, worker::Failed{"no file", true, true}}) {
    WorkerFixture fixture;
    const auto actions = fixture.worker.step(failed, fixture.now);
    const auto stops = all<worker::Stop>(actions);
    REQUIRE(stops.size() == 1);
    CHECK(stops[0].failure == failed.text);
    CHECK(stops[0].for_good == failed.for_good);
    CHECK(stops[0].of_data == failed.of_data);
    const auto sent = all<worker::SendToLead>(actions);
    REQUIRE(sent.size() == 1);
    CHECK(std::get<Goodbye>(sent[0].message).reason == failed.text);
  }
}

TEST_CASE("a worker that has stopped gives up what still comes, and nothing else") {
  WorkerFixture fixture;
  fixture.lead(Finish{1, 2, Ending::finished, ""});
  const auto actions = fixture.weights(0, 0);
  REQUIRE(actions.size() == 1);
  CHECK(all<worker::Release>(actions).size() == 1);
  CHECK(fixture.tick(100 * kWorkerMilli).empty());
}

// ---- rollback

namespace {

WorkerWelcome welcome(Timeline timeline, Incarnation incarnation, const std::string& address) {
  return {timeline, "job", "spec", "layout", 1, 1, {{{0, 0}, incarnation, address}}, timeline};
}

// A fixture that computes step 0 of timeline 1, one of whose gradients is on its way.
class Computing : public WorkerFixture {
 public:
  Computing() {
    assign(2);
    weights(0, 0);
    weights(1, 0);
    worker.step(worker::SlotBegun{0, 0});
    worker.step(worker::SlotBegun{0, 1});
    worker.step(worker::GradientReady{0, {0, 2}, 1, 7, kNoSlot, true});
  }
};

}  // namespace

TEST_CASE("an order of a newer timeline is taken only after its lanes' addresses are known") {
  WorkerFixture fixture;
  const Assign assign{{1, ++fixture.order}, 2, 1, {}, {{0, 2, {0, 2}}, {}}, {}};
  CHECK(to_lane<Pull>(fixture.lead(assign)).empty());
  const auto actions = fixture.lead(welcome(2, 5, "there"));
  REQUIRE(all<worker::Connect>(actions).size() == 1);
  CHECK(all<worker::Connect>(actions)[0].address == "there");
  CHECK(to_lane<LaneHello>(actions).size() == 1);
  fixture.lane(LaneWelcome{2, 5, 1'000});
  const auto pulls = to_lane<Pull>(fixture.lead(assign));
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0].timeline == 2);
}

TEST_CASE("a lane that lives on at its address is not connected to again") {
  WorkerFixture fixture;
  CHECK(all<worker::Connect>(fixture.lead(welcome(2, 1, "here"))).empty());
  CHECK(all<worker::Connect>(fixture.lead(welcome(1, 9, "older"))).empty());
}

TEST_CASE("with a newer timeline contributions of the older one are given up, those in the making as well") {
  Computing fixture;
  fixture.lead(welcome(2, 1, "here"));
  auto actions = fixture.lead(Assign{{1, ++fixture.order}, 2, 2, {}, {{0, 2, {0, 2}}, {}}, {}});
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(all<worker::Release>(actions)[0].payload == 7);
  actions = fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 8, kNoSlot, true});
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(to_lane<Push>(actions).empty());
  // Step 0 of the older timeline is not step 0 of the newer one: it is computed again, from pulled weights.
  actions = fixture.worker.step(worker::Computed{0, {}});
  REQUIRE(to_lane<Pull>(actions).size() == 1);
  CHECK(to_lane<Pull>(actions)[0] == Pull{2, 0, {0, 1}});
}

TEST_CASE("weights of an older timeline are given up") {
  WorkerFixture fixture;
  fixture.lead(welcome(2, 1, "here"));
  fixture.lead(Assign{{1, ++fixture.order}, 2, 2, {}, {{0, 2, {0, 2}}, {}}, {}});
  const auto actions = fixture.weights(0, 0);  // of timeline 1
  CHECK(all<worker::Store>(actions).empty());
  CHECK(all<worker::Release>(actions).size() == 1);
}

TEST_CASE("a lane's word of a newer timeline gives up what belongs to the older one, and asks the lead") {
  Computing fixture;
  const auto actions = fixture.lane(Stale{2});
  CHECK(all<worker::Release>(actions).size() == 1);
  REQUIRE(all<worker::SendToLead>(actions).size() == 1);
  CHECK(std::holds_alternative<Heartbeat>(all<worker::SendToLead>(actions)[0].message));
}

TEST_CASE("a welcome to another job ends the worker") {
  WorkerFixture fixture;
  auto other = welcome(2, 1, "here");
  other.spec_digest = "other";
  const auto actions = fixture.lead(other);
  REQUIRE(all<worker::Stop>(actions).size() == 1);
  CHECK_FALSE(all<worker::Stop>(actions)[0].failure.empty());
}

TEST_CASE("a worker that is copied while it computes goes on without the original, and the original without it") {
  Computing original;
  Computing copy = original;
  const auto before = original.worker;
  CHECK(differences(before, copy.worker) == Differences{});
  const auto end_step = [](WorkerFixture& fixture) {
    fixture.lane(Receipt{1, 0, 1, {0, 2}, ReceiptOutcome::accepted});
    auto pushes = to_lane<Push>(fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 8, kNoSlot, true}));
    fixture.worker.step(worker::Computed{0, {}});
    return pushes;
  };

  const auto pushes = end_step(copy);
  REQUIRE(pushes.size() == 1);
  CHECK_FALSE(copy.worker.computing());
  CHECK(copy.worker.in_flight_bytes() == 100);
  CHECK(differences(before, original.worker) == Differences{});
  CHECK(differences(before, copy.worker) != Differences{});

  CHECK(end_step(original) == pushes);
  CHECK(differences(original.worker, copy.worker) == Differences{});
  CHECK_FALSE(original.worker.computing());
  CHECK(original.worker.in_flight_bytes() == 100);

  original.lead(Finish{1, 2, Ending::finished, ""});
  CHECK(original.tick(100 * kWorkerMilli).empty());
  CHECK_FALSE(copy.tick(100 * kWorkerMilli).empty());
}

TEST_CASE("the slot that is not finite travels with its contribution") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  const auto pushes = to_lane<Push>(fixture.worker.step(worker::GradientReady{0, {0, 2}, 1, 7, 1, true}));
  REQUIRE(pushes.size() == 1);
  CHECK(pushes[0].fault == 1);
}

TEST_CASE("the job says for how long a worker waits for a lead that is gone") {
  Worker worker(WorkerFixture::config());  // which would wait for a second
  worker.step(worker::Tick{5'000 * kWorkerMilli});
  const Message welcome = WorkerWelcome{1, "job", "spec", "layout", 1, 1, {{{0, 0}, 1, "here"}}};
  worker.step(worker::FromLead{&welcome});
  WorkerLayout layout;
  layout.lanes = 1;
  layout.lead_silence = 3'000 * kWorkerMilli;
  worker.step(worker::Prepared{layout});
  worker.step(worker::Tick{5'100 * kWorkerMilli});  // the lead was heard of
  for (Micros now = 5'200 * kWorkerMilli; now <= 8'100 * kWorkerMilli; now += 100 * kWorkerMilli) {
    REQUIRE(all<worker::Stop>(worker.step(worker::Tick{now})).empty());
  }
  CHECK(all<worker::Stop>(worker.step(worker::Tick{8'200 * kWorkerMilli})).size() == 1);
}

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

// ---- items that have expired

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

std::optional<Heartbeat> beat_of(const worker::Actions& actions) {
  for (const auto& send : all<worker::SendToLead>(actions)) {
    if (const auto* beat = std::get_if<Heartbeat>(&send.message)) {
      return *beat;
    }
  }
  return std::nullopt;
}

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

// ---- work that changes while it is computed, and what is told of it

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

// ---- lanes that let it wait

namespace {

// A worker of two shards of one lane each that has just said hello to both.
struct TwoLanes {
  TwoLanes() : worker(WorkerFixture::config()) {
    tick(0);
    const Message welcome =
        WorkerWelcome{1, "job", "spec", "layout", 2, 1, {{{0, 0}, 1, "tcp://a:1"}, {{1, 0}, 1, "tcp://b:2"}}};
    worker.step(worker::FromLead{&welcome});
    WorkerLayout layout;
    layout.slots = 4;
    layout.chunks = {{0, 0, 100}, {1, 1, 20}};
    layout.lanes = 2;
    layout.lead_silence = 1'000'000 * kWorkerMilli;
    worker.step(worker::Prepared{layout});
  }
  worker::Actions tick(Micros later) { return worker.step(worker::Tick{now += later}); }
  void lane(std::uint32_t lane, const Message& message) { worker.step(worker::FromLane{lane, &message, kNoPayload}); }
  // What the next heartbeat says.
  std::string waits_for() {
    for (const auto& send : all<worker::SendToLead>(tick(200 * kWorkerMilli))) {
      if (const auto* beat = std::get_if<Heartbeat>(&send.message)) {
        return beat->waits_for;
      }
    }
    return "no heartbeat";
  }

  Worker worker;
  Micros now = 5'000'000;
};

}  // namespace

TEST_CASE("a lane that answers no hello is told by its name and address, until it does") {
  TwoLanes at;
  CHECK(at.waits_for().empty());
  at.lane(0, LaneWelcome{1, 1, 1'000});
  at.tick(4'000 * kWorkerMilli);
  CHECK(at.waits_for().empty());
  at.tick(1'000 * kWorkerMilli);
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://b:2, which does not answer");
  REQUIRE(at.worker.waiting_lane() != nullptr);
  CHECK(at.worker.waiting_lane()->address == "tcp://b:2");
  at.worker.step(worker::Unreachable{1, "the name b does not resolve"});
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://b:2, which does not answer: the name b does not resolve");
  at.lane(1, LaneWelcome{1, 1, 1'000});
  CHECK(at.waits_for().empty());
  CHECK(at.worker.waiting_lane() == nullptr);
}

TEST_CASE("of several lanes that do not answer the first is named and the others are counted") {
  TwoLanes at;
  at.tick(6'000 * kWorkerMilli);
  CHECK(at.waits_for() == "lane 0 of shard 0 at tcp://a:1, which does not answer (and 1 other lane)");
}

TEST_CASE("a lane that answers that it does not serve yet is not silent; one that is full says so") {
  TwoLanes at;
  at.lane(0, LaneWelcome{1, 1, 1'000});
  for (int i = 0; i < 30; ++i) {
    at.tick(300 * kWorkerMilli);
    at.lane(1, Refused{RefusalCode::not_serving, "not yet"});
  }
  CHECK(at.waits_for().empty());
  at.lane(1, Refused{RefusalCode::too_many, "the lane has 3 sessions already"});
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://b:2, which refuses: the lane has 3 sessions already");
  at.lane(1, LaneWelcome{1, 1, 1'000});
  CHECK(at.waits_for().empty());
}

TEST_CASE("a lane that has moved is given its time anew") {
  TwoLanes at;
  at.lane(0, LaneWelcome{1, 1, 1'000});
  at.tick(6'000 * kWorkerMilli);
  const Message moved =
      WorkerWelcome{2, "job", "spec", "layout", 2, 1, {{{0, 0}, 1, "tcp://a:1"}, {{1, 0}, 2, "tcp://c:3"}}, 1};
  at.worker.step(worker::FromLead{&moved});
  CHECK(at.waits_for().empty());
  at.tick(6'000 * kWorkerMilli);
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://c:3, which does not answer");
}

// ---- how fast its link is

namespace {

SlotProgress progress_told(WorkerFixture& fixture) {
  for (const auto& send : all<worker::SendToLead>(fixture.tick(3'000 * kWorkerMilli))) {
    if (const auto* beat = std::get_if<Heartbeat>(&send.message)) {
      return beat->progress;
    }
  }
  FAIL("no heartbeat");
  return {};
}

}  // namespace

TEST_CASE("a worker tells how fast weights come, from when it asked for them") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.tick(1 * kWorkerMilli);
  fixture.weights(0, 0);
  fixture.tick(1 * kWorkerMilli);
  fixture.weights(1, 0);
  CHECK(progress_told(fixture).down == 60'000);
}

TEST_CASE("a worker tells how fast its sums get through, and what is sent again does not hinder it") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, kNoSlot, true});
  CHECK(to_lane<Push>(fixture.tick(500 * kWorkerMilli)).size() == 1);  // again
  fixture.tick(10 * kWorkerMilli);
  fixture.lane(Receipt{1, 0, 0, {0, 2}, ReceiptOutcome::accepted});
  const auto before = progress_told(fixture).up;
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 1, 8, kNoSlot, true});
  fixture.tick(1 * kWorkerMilli);
  fixture.lane(Receipt{1, 0, 1, {0, 2}, ReceiptOutcome::accepted});
  CHECK(before < 20'000);
  CHECK(progress_told(fixture).up == 20'000);  // 20 bytes in a millisecond
}

// ---- told to leave

namespace {

bool is_gone(const worker::Actions& actions) { return !all<worker::Stop>(actions).empty(); }

// It computes slots 0 and 1 of step 0, and is at slot 0.
WorkerFixture at_slot_0() {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::SlotBegun{0, 0});
  return fixture;
}

}  // namespace

TEST_CASE("a worker that is told to leave ends the slot in hand, begins no other, and goes with the last receipt") {
  auto fixture = at_slot_0();
  const auto told = fixture.worker.step(worker::Drain{"enough"});
  REQUIRE(all<worker::Amend>(told).size() == 1);
  CHECK(all<worker::Amend>(told)[0].ranges == std::vector<SlotRange>{{0, 1}});
  REQUIRE(beat_of(told).has_value());
  CHECK(beat_of(told)->progress.leaving);
  fixture.worker.step(worker::GradientReady{0, {0, 1}, 1, 7, kNoSlot, true});
  fixture.worker.step(worker::GradientReady{0, {0, 1}, 0, 8, kNoSlot, true});
  CHECK_FALSE(is_gone(fixture.worker.step(worker::Computed{0, {}})));
  CHECK_FALSE(is_gone(fixture.tick(1'000 * kWorkerMilli)));
  CHECK_FALSE(is_gone(fixture.lane(Receipt{1, 0, 1, {0, 1}, ReceiptOutcome::accepted})));
  const auto last = fixture.lane(Receipt{1, 0, 0, {0, 1}, ReceiptOutcome::accepted});
  CHECK(is_gone(last));
  REQUIRE(beat_of(last).has_value());
  CHECK(beat_of(last)->progress.without_receipt == 0);
  CHECK(std::get<Goodbye>(all<worker::SendToLead>(last).back().message).reason == "enough");
}

TEST_CASE("a worker that has nothing to do goes at once when it is told to") {
  WorkerFixture fixture;
  CHECK(is_gone(fixture.worker.step(worker::Drain{"enough"})));
}

TEST_CASE("a worker that is told to leave waits for receipts as long as its patience lasts") {
  auto fixture = at_slot_0();
  fixture.worker.step(worker::GradientReady{0, {0, 1}, 1, 7, kNoSlot, true});
  fixture.worker.step(worker::Drain{"enough"});
  fixture.worker.step(worker::Computed{0, {}});
  const auto patience = WorkerFixture::config().drain_patience;
  Micros waited = 0;
  bool gone = false;
  while (!gone && waited < 2 * patience) {
    waited += 500 * kWorkerMilli;
    fixture.assign(2);  // the lead is there
    gone = is_gone(fixture.tick(500 * kWorkerMilli));
  }
  CHECK(waited == patience);
}
