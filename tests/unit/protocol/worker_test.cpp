#include "common/protocol/worker.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kMilli = 1'000;

// A worker of two chunks on one lane, all of whose messages the test writes itself.
class Fixture {
 public:
  Fixture() : worker(config()) {
    tick(0);
    lead(WorkerWelcome{"job", "spec", "layout", 1, 1, {{{0, 0}, "here"}}});
    WorkerLayout layout;
    layout.slots = 4;
    layout.chunks = {{0, 0, 100}, {1, 0, 20}};
    layout.lanes = 1;
    worker.step(worker::Prepared{layout});
    lane(LaneWelcome{1, 1, 1'000});
  }

  static WorkerConfig config() {
    WorkerConfig config;
    config.name = "worker";
    config.lead_silence = 1'000 * kMilli;
    config.retry = {100 * kMilli, 100 * kMilli, 100 * kMilli};
    return config;
  }

  worker::Actions tick(Micros later) { return worker.step(worker::Tick{now += later}); }
  worker::Actions lead(const Message& message) { return worker.step(worker::FromLead{&message}); }
  worker::Actions lane(const Message& message, PayloadId payload = kNoPayload) {
    return worker.step(worker::FromLane{0, &message, payload});
  }
  worker::Actions assign(Step until) { return lead(Assign{++order, 1, 1, {0, until, {0, 2}}, {}, {}}); }
  worker::Actions weights(ChunkId chunk, Version version) { return lane(Weights{1, 1, chunk, version}, ++payloads); }

  Worker worker;
  Micros now = 5'000'000;
  std::uint64_t order = 0;
  PayloadId payloads = 100;
};

template <typename Action>
std::vector<Action> all(const worker::Actions& actions) {
  std::vector<Action> found;
  for (const auto& action : actions) {
    if (const auto* body = std::get_if<Action>(&action)) {
      found.push_back(*body);
    }
  }
  return found;
}

template <typename Body>
std::vector<Body> to_lane(const worker::Actions& actions) {
  std::vector<Body> found;
  for (const auto& send : all<worker::SendToLane>(actions)) {
    if (const auto* body = std::get_if<Body>(&send.message)) {
      found.push_back(*body);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a worker computes when all chunks of the version are there, and not before") {
  Fixture fixture;
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

TEST_CASE("weights that nobody asked for are given up") {
  Fixture fixture;
  fixture.assign(2);
  const auto actions = fixture.weights(0, 1);
  CHECK(all<worker::Store>(actions).empty());
  const auto releases = all<worker::Release>(actions);
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].payload == fixture.payloads);
}

TEST_CASE("weights that come during a computation are stored after it") {
  Fixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  auto actions = fixture.worker.step(worker::GradientReady{0, {0, 2}, 1, 7, true});
  auto pushes = to_lane<Push>(actions);
  REQUIRE(pushes.size() == 1);
  CHECK(pushes[0].want_next);
  actions = fixture.weights(1, 1);
  CHECK(all<worker::Store>(actions).empty());
  // The next version of its chunk is a receipt for the gradient.
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(all<worker::Release>(actions)[0].payload == 7);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 8, true});
  actions = fixture.worker.step(worker::Computed{0, {}});
  REQUIRE(all<worker::Store>(actions).size() == 1);
  CHECK(all<worker::Store>(actions)[0].version == 1);
}

TEST_CASE("a gradient is kept and sent again until its receipt comes") {
  Fixture fixture;
  fixture.assign(1);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, true});
  CHECK(fixture.worker.in_flight_bytes() == 100);
  CHECK(to_lane<Push>(fixture.tick(99 * kMilli)).empty());
  CHECK(to_lane<Push>(fixture.tick(1 * kMilli)).size() == 1);
  auto actions = fixture.lane(Receipt{1, 0, 0, {0, 1}, ReceiptOutcome::accepted});
  CHECK(all<worker::Release>(actions).empty());
  actions = fixture.lane(Receipt{1, 0, 0, {0, 2}, ReceiptOutcome::accepted});
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(fixture.worker.outstanding() == 0);
}

TEST_CASE("a lane that forgot the session is greeted again and sent everything again") {
  Fixture fixture;
  fixture.assign(1);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, true});
  fixture.lane(Refused{RefusalCode::unknown_session, "say hello first"});
  CHECK(fixture.worker.in_flight_bytes() == 0);
  CHECK(to_lane<LaneHello>(fixture.tick(1 * kMilli)).size() == 1);
  CHECK(to_lane<Push>(fixture.lane(LaneWelcome{1, 1, 1'000})).size() == 1);
}

TEST_CASE("a worker that the lead gave up says hello again") {
  Fixture fixture;
  fixture.lead(Refused{RefusalCode::unknown_session, "say hello first"});
  bool said = false;
  for (const auto& send : all<worker::SendToLead>(fixture.tick(1 * kMilli))) {
    said = said || std::holds_alternative<WorkerHello>(send.message);
  }
  CHECK(said);
}

TEST_CASE("a worker leaves when the lead is silent, but not because it slept itself") {
  Fixture fixture;
  CHECK(all<worker::Stop>(fixture.tick(60'000 * kMilli)).empty());
  worker::Actions actions;
  for (int i = 0; i < 12 && all<worker::Stop>(actions).empty(); ++i) {
    actions = fixture.tick(100 * kMilli);
  }
  REQUIRE(all<worker::Stop>(actions).size() == 1);
  CHECK(all<worker::Stop>(actions)[0].failure.find("lead") != std::string::npos);
}

TEST_CASE("a worker that has stopped gives up what still comes, and nothing else") {
  Fixture fixture;
  fixture.lead(Finish{1, 2, ""});
  const auto actions = fixture.weights(0, 0);
  REQUIRE(actions.size() == 1);
  CHECK(all<worker::Release>(actions).size() == 1);
  CHECK(fixture.tick(100 * kMilli).empty());
}
