// How a lane goes whose server is told to end.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

namespace {

Plan leave_of(Timeline timeline, Incarnation incarnation = 1) {
  auto word = plan(timeline, 0, 0);
  word.incarnation = incarnation;
  word.may_depart = true;
  return word;
}

}  // namespace

TEST_CASE("a lane that serves says that its server is told to end, and goes when it may") {
  Fixture fixture;
  CHECK(find<lane::Leave>(fixture.lead(leave_of(1))) == nullptr);  // nobody has told it to
  auto actions = fixture.lane.step(lane::Depart{});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->departing);
  CHECK_FALSE(find_to_lead<LaneReport>(actions)->leaving);
  CHECK(find<lane::Leave>(actions) == nullptr);
  CHECK(fixture.lane.step(lane::Depart{}).empty());
  CHECK(find<lane::Leave>(fixture.lead(plan(1, 0, 0))) == nullptr);
  CHECK(find<lane::Leave>(fixture.lead(leave_of(2))) == nullptr);     // of another timeline
  CHECK(find<lane::Leave>(fixture.lead(leave_of(1, 7))) == nullptr);  // to another life
  actions = fixture.lead(leave_of(1));
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->leaving);
  REQUIRE(find<lane::Leave>(actions) != nullptr);
  CHECK_FALSE(find<lane::Leave>(actions)->whole);
  CHECK(find<lane::Leave>(actions)->lost.empty());
  CHECK(fixture.lane.step(lane::Tick{60'000'000}).empty());
}

TEST_CASE("a lane that serves nothing lets its server go at once, with all its lanes") {
  Lane waiting(config());
  const auto actions = waiting.step(lane::Depart{});
  REQUIRE(find<lane::Leave>(actions) != nullptr);
  CHECK(find<lane::Leave>(actions)->whole);
  CHECK(find<lane::Leave>(actions)->lost.empty());
}

TEST_CASE("so it does when the next timeline begins: it has nothing of it, and the last one is over") {
  Fixture fixture;
  fixture.lane.step(lane::Depart{});
  CHECK(find<lane::Leave>(fixture.lead(Confirm{1, 1, {0, 0}})) == nullptr);
  CHECK(find<lane::Leave>(fixture.lead(Confirm{7, 2, {0, 0}})) == nullptr);  // to another life
  const auto actions = fixture.lead(Confirm{1, 2, {0, 0}});
  CHECK(find<lane::Begin>(actions) == nullptr);
  REQUIRE(find<lane::Leave>(actions) != nullptr);
  CHECK(find<lane::Leave>(actions)->whole);
}

TEST_CASE("a lane with a journal lets its server go at once") {
  auto journaled = config();
  journaled.items = ItemRules{0, false, false, true};
  Fixture fixture(journaled);
  const auto actions = fixture.lane.step(lane::Depart{});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->departing);
  REQUIRE(find<lane::Leave>(actions) != nullptr);
  CHECK(find<lane::Leave>(actions)->whole);
}

TEST_CASE("a lane that is out of patience goes without a snapshot, and says what is lost") {
  auto impatient = config();
  impatient.hold_patience = 3'000'000;
  Fixture fixture(impatient);
  for (Slot slot = 0; slot < 4; ++slot) {
    fixture.push(0, 3, {slot, slot + 1}, 100);
    fixture.push(0, 5, {slot, slot + 1}, 40);
  }
  REQUIRE(fixture.lane.open_step() == 1);
  fixture.lane.step(lane::Depart{});
  CHECK(find<lane::Leave>(fixture.lane.step(lane::Tick{3'001'000})) == nullptr);
  fixture.lane.step(lane::Trouble{"the disk is full"});
  const auto actions = fixture.lane.step(lane::Tick{3'001'001});
  REQUIRE(find<lane::Leave>(actions) != nullptr);
  CHECK(find<lane::Leave>(actions)->whole);
  CHECK(find<lane::Leave>(actions)->lost ==
        "told to end, and no snapshot was complete in the 3 s since (cluster.hold_patience): the job goes back to the "
        "snapshot of step 0, and steps 0 to 0 are lost and computed again; the disk is full");
}

TEST_CASE(
    "a lane that is out of patience says what is lost where no step has ended since the snapshot, or none is its own") {
  const std::string back =
      "told to end, and no snapshot was complete in the 3 s since (cluster.hold_patience): the job goes back to the "
      "snapshot of step 0, and ";
  const auto lost = [](LaneConfig impatient) {
    impatient.hold_patience = 3'000'000;
    Fixture fixture(impatient);
    fixture.lane.step(lane::Depart{});
    const auto actions = fixture.lane.step(lane::Tick{3'001'001});
    REQUIRE(find<lane::Leave>(actions) != nullptr);
    return find<lane::Leave>(actions)->lost;
  };
  CHECK(lost(config()) == back + "what has come of step 0 is lost and computed again");
  auto without_chunks = config();
  without_chunks.chunks.clear();
  CHECK(lost(without_chunks) == back + "the steps from 0 on are lost and computed again");
}

TEST_CASE("a lane whose end is being made durable leaves with it") {
  Fixture fixture;
  fixture.lead(Finish{1, 5, Ending::finished, {}});
  CHECK(fixture.lane.step(lane::Depart{}).empty());
  const auto actions = fixture.lane.step(lane::FinishRecorded{});
  REQUIRE(find<lane::Stop>(actions) != nullptr);
  CHECK(find<lane::Stop>(actions)->failure.empty());
  CHECK(fixture.lane.step(lane::Depart{}).empty());
}
