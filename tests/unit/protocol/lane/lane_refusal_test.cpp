// What a lane refuses, and whom it lets in.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

TEST_CASE("a push that cannot be is refused, names what is wrong and changes nothing") {
  Fixture fixture;
  check_refused(fixture, fixture.push(0, 4, {0, 1}, 100), RefusalCode::wrong_target, "chunk 4");
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 99), RefusalCode::out_of_range, "99");
  check_refused(fixture, fixture.push(0, 3, {1, 3}, 100), RefusalCode::out_of_range, "[1, 3)");
  check_refused(fixture, fixture.push(0, 3, {2, 2}, 100), RefusalCode::out_of_range, "[2, 2)");
  check_refused(fixture, fixture.push(0, 3, {3, 1}, 100), RefusalCode::out_of_range, "[3, 1)");
  check_refused(fixture, fixture.push(0, 3, {0, 4'000'000'000U}, 100), RefusalCode::out_of_range, "no node");
  check_refused(fixture, fixture.push(1, 3, {0, 1}, 100), RefusalCode::out_of_range, "step 1");
  check_refused(fixture, fixture.push(~Step{0}, 3, {0, 1}, 100), RefusalCode::out_of_range, "chunk 3");
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 100, 2), RefusalCode::not_serving, "timeline 1");
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 100, 1, false, 77), RefusalCode::unknown_session, "hello");
  CHECK(fixture.lane.counters().refused == 10);
  CHECK(fixture.lane.counters().updates.accepted == 0);
}

TEST_CASE("a push of an older timeline is told the current one") {
  Fixture fixture;
  const auto actions = fixture.push(0, 3, {0, 1}, 100, 0);
  const auto* stale = find_to_worker<Stale>(actions);
  REQUIRE(stale != nullptr);
  CHECK(stale->timeline == 1);
  CHECK(find<lane::Drop>(actions) != nullptr);
  CHECK(fixture.lane.counters().stale == 1);
}

TEST_CASE("before the timeline has begun nothing is served") {
  Lane lane(config());
  const Message hello = LaneHello{"worker", "spec", "layout"};
  const Message pull = Pull{1, 0, {3}};
  lane.step(lane::Tick{1'000});
  lane.step(lane::FromWorker{kWorker, &hello, kNoPayload, 0});
  const auto actions = lane.step(lane::FromWorker{kWorker, &pull, kNoPayload, 0});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::not_serving);
}

TEST_CASE("a hello of another job is refused") {
  Fixture fixture;
  for (const auto& hello : {LaneHello{"worker", "other", "layout"}, LaneHello{"worker", "spec", "other"}}) {
    const auto actions = fixture.from_worker(44, hello);
    const auto* refused = find_to_worker<Refused>(actions);
    REQUIRE(refused != nullptr);
    CHECK(refused->code == RefusalCode::wrong_job);
  }
  CHECK(fixture.lane.sessions() == 1);
}

TEST_CASE("pulls that cannot be are refused") {
  Fixture fixture;
  auto actions = fixture.from_worker(kWorker, Pull{1, 0, {4}});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::wrong_target);
  actions = fixture.from_worker(kWorker, Pull{1, 6, {3}});
  refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::out_of_range);
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}, {}, true});
  refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::out_of_range);
  CHECK(refused->text == "the job keeps no averages of its weights");
  actions = fixture.from_worker(kWorker, WorkerHello{"worker"});
  refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::wrong_target);
}

TEST_CASE("a fault said of a slot outside the node is refused") {
  Fixture fixture;
  fixture.fault = 3;
  check_refused(fixture, fixture.push(0, 3, {0, 2}, 100), RefusalCode::out_of_range, "not finite");
}

TEST_CASE("no more sessions than there is room for, unless one has long been silent") {
  auto small = config();
  small.session_memory = 1'000'000;
  Fixture fixture(small);
  fixture.from_worker(kWorker, Pull{1, 1, {3}});  // which waits
  for (SessionId id = 100; fixture.lane.sessions() < kMaxSessions; ++id) {
    fixture.from_worker(id, LaneHello{"worker", "spec", "layout"});
    fixture.from_worker(id, Pull{1, 1, {3}});
  }
  auto actions = fixture.from_worker(5'000, LaneHello{"worker", "spec", "layout"});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::too_many);
  fixture.lane.step(lane::Tick{2'000'000});
  actions = fixture.from_worker(5'000, LaneHello{"worker", "spec", "layout"});
  CHECK(find_to_worker<LaneWelcome>(actions) != nullptr);
  CHECK(fixture.lane.sessions() == kMaxSessions);
}

TEST_CASE("a lane takes as many sessions as it may") {
  auto small = config();
  small.max_sessions = 2;
  Fixture fixture(small);
  fixture.from_worker(kWorker, Pull{1, 1, {3}});
  while (fixture.lane.sessions() < 2) {
    const SessionId session = 100 + fixture.lane.sessions();
    fixture.from_worker(session, LaneHello{"worker", "spec", "layout"});
    fixture.from_worker(session, Pull{1, 1, {3}});
  }
  const auto actions = fixture.from_worker(5'000, LaneHello{"worker", "spec", "layout"});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->text == "the lane has 2 sessions already");
}
