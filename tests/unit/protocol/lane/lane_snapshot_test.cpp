// The lane's part in snapshots and their copies.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

TEST_CASE("a snapshot takes each chunk at its version, is sealed when all were taken, and leaves the statistics out") {
  Fixture fixture;
  CHECK(find<lane::TakeSnapshot>(fixture.lead(plan(1, 0, 5, {1}))) == nullptr);
  auto actions = fixture.push(0, 3, {0, 4}, 100);
  REQUIRE(find<lane::TakeSnapshot>(actions) != nullptr);
  CHECK(find<lane::TakeSnapshot>(actions)->id == SnapshotId{1, 1});
  CHECK(find<lane::TakeSnapshot>(actions)->chunk == 3);
  CHECK(find<lane::SealSnapshot>(actions) == nullptr);
  actions = fixture.push(0, 5, {0, 4}, 40);
  CHECK(find<lane::TakeSnapshot>(actions) == nullptr);
  REQUIRE(find<lane::SealSnapshot>(actions) != nullptr);
  actions = fixture.lane.step(lane::SnapshotDurable{{1, 1}});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->held == std::vector<SnapshotId>{{1, 1}});
  CHECK(fixture.lead(plan(1, 1, 1, {1})).empty());  // the order said again
}

TEST_CASE("a snapshot of the newest version is taken before a plan's factors update it") {
  Fixture fixture;
  fixture.begin(2, {1, 0});
  fixture.push(0, 3, {0, 4}, 100, 2);
  const auto actions = fixture.lead(plan(2, 0, 1, {0}));
  std::size_t take = actions.size();
  std::size_t apply = actions.size();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    take = std::holds_alternative<lane::TakeSnapshot>(actions[i]) ? i : take;
    apply = std::holds_alternative<lane::Apply>(actions[i]) ? i : apply;
  }
  CHECK(take < apply);
  CHECK(apply < actions.size());
}

TEST_CASE("a version that some chunk has left is not taken") {
  Fixture fixture;
  fixture.push(0, 3, {0, 4}, 100);
  CHECK(find<lane::TakeSnapshot>(fixture.lead(plan(1, 0, 5, {0}))) == nullptr);
}

TEST_CASE("a snapshot that fails is told with its reason, and late words of an older timeline are not taken") {
  Fixture fixture;
  fixture.lead(plan(1, 0, 5, {0}));
  auto actions = fixture.lane.step(lane::SnapshotFailed{{1, 0}, "disk full"});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->failed == std::vector<SnapshotId>{{1, 0}});
  CHECK(find_to_lead<LaneReport>(actions)->trouble == "disk full");
  fixture.lead(plan(1, 0, 5, {1}));
  fixture.push(0, 3, {0, 4}, 100);
  fixture.push(0, 5, {0, 4}, 40);
  fixture.begin(2, {0, 0});
  CHECK(fixture.lane.step(lane::SnapshotDurable{{1, 1}}).empty());
}

TEST_CASE("an order for a later version takes no chunk into the snapshot of an earlier one again") {
  Fixture fixture;
  fixture.lead(plan(1, 0, 5, {1}));
  fixture.push(0, 5, {0, 4}, 40);  // the statistics chunk stands at version 1, the other one does not
  CHECK(find<lane::SealSnapshot>(fixture.lead(plan(1, 0, 5, {1, 3}))) == nullptr);
  const auto actions = fixture.push(0, 3, {0, 4}, 100);
  CHECK(find<lane::TakeSnapshot>(actions) != nullptr);
  CHECK(find<lane::SealSnapshot>(actions) != nullptr);
}

TEST_CASE("a late plan, which knows of fewer complete snapshots, has none taken again") {
  Fixture fixture;
  const auto old = plan(1, 0, 5, {0}, {{0, 0}});
  fixture.lead(old);
  fixture.lane.step(lane::SnapshotDurable{{1, 0}});
  fixture.lead(plan(1, 0, 5, {}, {{0, 0}, {1, 0}}));
  CHECK(fixture.lead(old).empty());
}

TEST_CASE("what may be deleted is said only when the list of what is kept changes") {
  Fixture fixture;
  CHECK(find<lane::Retain>(fixture.lead(plan(1, 0, 5, {}, {{0, 0}}))) != nullptr);
  CHECK(find<lane::Retain>(fixture.lead(plan(1, 0, 5, {}, {{0, 0}}))) == nullptr);
  CHECK(find<lane::Retain>(fixture.lead(plan(1, 0, 5, {}, {{0, 0}, {1, 2}}))) != nullptr);
}

TEST_CASE("what is to be copied is asked for once, and late plans do not take it back") {
  auto lanes = config();
  Fixture at(lanes);
  const auto ordered = [&at](const CopyState& copies) {
    auto order = plan(1, 0, 5);
    order.copies = copies;
    std::vector<CopyState> asked;
    for (const auto& action : at.lead(order)) {
      if (const auto* copy = std::get_if<lane::Copy>(&action)) {
        asked.push_back(copy->copies);
      }
    }
    return asked;
  };
  const CopyState first{7, {1, 10}, {}};
  const CopyState second{7, {1, 30}, {1, 10}};
  const CopyState given_up{7, {1, 40}, {1, 10}};
  const CopyState last{7, {}, {1, 40}};
  CHECK(ordered({7, {}, {}}).empty());
  CHECK(ordered(first) == std::vector{first});
  CHECK(ordered(first).empty());
  CHECK(ordered(second) == std::vector{second});
  CHECK(ordered(first).empty());
  CHECK(ordered(given_up) == std::vector{given_up});
  CHECK(ordered(second).empty());
  CHECK(ordered(last) == std::vector{last});
  CHECK(ordered(given_up).empty());
  const CopyState anew{8, {1, 40}, {}, 5, 1};  // under another name, of which there is nothing yet
  CHECK(ordered(anew) == std::vector{anew});
  CHECK(ordered(last).empty());

  lanes.id = {1, 1};
  at.lane.step(lane::Copying{{7, {1, 40}, 100, 0, true, false}});
  Fixture other(lanes);  // one lane speaks for the shard
  auto order = plan(1, 0, 5);
  order.copies = first;
  for (const auto& action : other.lead(order)) {
    CHECK_FALSE(std::holds_alternative<lane::Copy>(action));
  }
}

TEST_CASE("a lead that goes on from an earlier state of its ledger is followed in what it has copied") {
  Fixture at;
  auto order = plan(1, 0, 5);
  order.copies = {7, {1, 40}, {1, 30}, 5, 3};
  at.lead(order);
  at.begin(2, {0, 0});
  order = plan(2, 0, 5);
  order.copies = {7, {1, 20}, {1, 10}, 6, 2};
  const auto actions = at.lead(order);
  const auto* copy = find<lane::Copy>(actions);
  REQUIRE(copy != nullptr);
  CHECK(copy->copies == order.copies);
}

TEST_CASE("a copy that is done is reported at once, in whatever timeline") {
  Fixture at;
  const CopyProgress done{7, {1, 40}, 100, 0, true, false};
  CHECK(find_to_lead<LaneReport>(at.lane.step(lane::Copying{{7, {1, 40}, 50, 0, false, false}})) == nullptr);
  const auto actions = at.lane.step(lane::Copying{done});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->copy == done);
  const CopyProgress taken{7, {1, 50}, 0, 0, false, true};
  const auto told = at.lane.step(lane::Copying{taken});
  REQUIRE(find_to_lead<LaneReport>(told) != nullptr);
  CHECK(find_to_lead<LaneReport>(told)->copy == taken);
  at.lane.step(lane::Copying{done});
  const auto begun = at.begin(2, {0, 0});
  REQUIRE(find_to_lead<LaneReport>(begun) != nullptr);
  CHECK(find_to_lead<LaneReport>(begun)->copy == done);
}

TEST_CASE("a base that can be had nowhere is said with the next hello, and a snapshot that was fetched is held") {
  auto restoring = config();
  restoring.run = 77;
  Lane lane(restoring);
  lane.step(lane::Tick{1'000});
  auto actions = lane.step(lane::CopiesFound{{{1, 10}, {1, 20}}, {}});
  const auto* hello = find_to_lead<ShardHello>(actions);
  REQUIRE(hello != nullptr);
  CHECK(hello->run == 77);
  CHECK(hello->copied == std::vector<SnapshotId>{{1, 10}, {1, 20}});
  CHECK(hello->held.empty());
  const Message confirm = Confirm{1, 2, {1, 20}};
  CHECK(find<lane::Begin>(lane.step(lane::FromLead{&confirm})) != nullptr);
  CHECK(lane.step(lane::BaseMissing{1, {1, 20}, "of another timeline"}).empty());
  actions = lane.step(lane::BaseMissing{2, {1, 20}, "damaged"});
  hello = find_to_lead<ShardHello>(actions);
  REQUIRE(hello != nullptr);
  CHECK(hello->lost == std::vector<SnapshotId>{{1, 20}});
  const Message older = Confirm{1, 3, {1, 10}};
  REQUIRE(find<lane::Begin>(lane.step(lane::FromLead{&older})) != nullptr);
  lane.step(lane::Begun{3});
  CHECK(lane.serving());
  CHECK(lane.step(lane::CopiesFound{{{1, 10}}, {}}).empty());  // it serves: nobody asks
  const Message forgotten = Refused{RefusalCode::unknown_session, "say hello first"};
  actions = lane.step(lane::FromLead{&forgotten});
  hello = find_to_lead<ShardHello>(actions);
  REQUIRE(hello != nullptr);
  CHECK(hello->held == std::vector<SnapshotId>{{1, 10}});
  CHECK(hello->timeline == 3);
}

TEST_CASE("a lane tells of the newest copies, and why it cannot look") {
  Lane lane(config());
  lane.step(lane::Tick{1'000});
  std::vector<SnapshotId> many;
  for (Step step = 1; step <= kMaxCopied + 5; ++step) {
    many.push_back({1, step});
  }
  auto actions = lane.step(lane::CopiesFound{many, {}});
  REQUIRE(find_to_lead<ShardHello>(actions) != nullptr);
  CHECK(find_to_lead<ShardHello>(actions)->copied.size() == kMaxCopied);
  CHECK(find_to_lead<ShardHello>(actions)->copied.back() == SnapshotId{1, kMaxCopied + 5});
  actions = lane.step(lane::CopiesFound{{}, "no answer"});
  CHECK(find_to_lead<ShardHello>(actions)->copied.size() == kMaxCopied);  // as far as it knows
  CHECK(find_to_lead<ShardHello>(actions)->copies_trouble == "no answer");
}
