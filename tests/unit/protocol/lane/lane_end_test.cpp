// How a lane ends, and what it does while its lead is away.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

TEST_CASE("a lane leaves after `finished` is durable with it, and not before") {
  Fixture fixture;
  auto actions = fixture.lead(Finish{1, 5, Ending::finished, {}});
  REQUIRE(find<lane::RecordFinish>(actions) != nullptr);
  CHECK(find<lane::RecordFinish>(actions)->end == SnapshotId{1, 5});
  CHECK(find<lane::Stop>(actions) == nullptr);
  CHECK(fixture.lead(Finish{1, 5, Ending::finished, {}}).empty());
  actions = fixture.lane.step(lane::FinishRecorded{});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->leaving);
  REQUIRE(find<lane::Stop>(actions) != nullptr);
  CHECK(find<lane::Stop>(actions)->failure.empty());
}

TEST_CASE("a lane whose end waits to be durable is not ended by a lead that has left") {
  Fixture fixture;
  fixture.lead(Finish{1, 5, Ending::finished, {}});
  for (Micros now = 1'000; now < 3 * config().lead_silence; now += 1'000'000) {
    REQUIRE(find<lane::Stop>(fixture.lane.step(lane::Tick{now})) == nullptr);
  }
  const auto actions = fixture.lane.step(lane::FinishRecorded{});
  REQUIRE(find<lane::Stop>(actions) != nullptr);
  CHECK(find<lane::Stop>(actions)->failure.empty());
}

TEST_CASE("a job that is stopped or has failed is left at once, with the reason") {
  for (const auto ending : {Ending::stopped, Ending::failed}) {
    Fixture fixture;
    const auto actions = fixture.lead(Finish{1, 5, ending, "why"});
    CHECK(find<lane::RecordFinish>(actions) == nullptr);
    REQUIRE(find<lane::Stop>(actions) != nullptr);
    CHECK(find<lane::Stop>(actions)->failure == "why");
  }
}

TEST_CASE("a shard whose storage has failed says so") {
  Fixture fixture;
  const auto actions = fixture.lane.step(lane::StorageFailed{"read-only"});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->failure == "read-only");
}

TEST_CASE("a lead that waits for other shards is heard, and asked again") {
  Fixture fixture;
  Micros now = 1'000;
  for (int i = 0; i < 1'000; ++i) {  // longer than a silent lead is waited for
    REQUIRE(find<lane::Stop>(fixture.lane.step(lane::Tick{now += 1'000'000})) == nullptr);
    REQUIRE(find<lane::Stop>(fixture.lead(Refused{RefusalCode::not_serving, "the lead waits"})) == nullptr);
  }
}

TEST_CASE(
    "a lead that is away is told hello only, for what it is sent waits in memory, and all of it once it is back") {
  Fixture fixture;
  Micros now = 1'000;
  std::size_t reports = 0;
  for (int i = 0; i < 600; ++i) {
    const auto actions = fixture.lane.step(lane::Tick{now += 50'000});
    reports += find_to_lead<LaneReport>(actions) != nullptr ? 1 : 0;
    if (i > 100 && i % 10 == 0) {
      fixture.push(0, 3, {static_cast<Slot>(i % 4), static_cast<Slot>(i % 4 + 1)}, 100);
    }
  }
  CHECK(reports > 0);
  CHECK(reports < 20);  // those of the first seconds
  fixture.lead(Confirm{1, 1, {0, 0}});
  const auto actions = fixture.lane.step(lane::Tick{now += 200'000});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->serving);
}
