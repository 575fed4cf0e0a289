// Newer timelines: what belongs to the older one is given up.
#include "protocol/worker/worker.h"
#include "tests/unit/protocol/worker/worker_fixture.h"

#include <doctest/doctest.h>

using namespace ballast;

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
