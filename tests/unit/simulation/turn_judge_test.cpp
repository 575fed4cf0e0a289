// How much a lane does for one event, by the judge alone.
#include <doctest/doctest.h>

#include <vector>

#include "tests/simulation/judge/turn.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;

constexpr std::uint64_t kEventBytes = 100;

lane::Apply apply_of(ChunkId chunk, Version version = 0) {
  lane::Apply action;
  action.chunk = chunk;
  action.version = version;
  return action;
}

lane::Append append_of(std::uint64_t ticket, ChunkId chunk, Version version) {
  lane::Append action;
  action.ticket = ticket;
  action.chunk = chunk;
  action.version = version;
  return action;
}

lane::Measured measured(ChunkId chunk, Step step, bool finite = true) {
  lane::Measured event;
  event.measure.chunk = chunk;
  event.measure.step = step;
  event.measure.finite = finite;
  return event;
}

Plan plan_of(Step first, const std::vector<bool>& skips) {
  Plan plan;
  plan.first = first;
  for (const auto skip : skips) {
    plan.factors.emplace_back();
    plan.factors.back().skip = skip;
  }
  return plan;
}

TEST_CASE("turn: a lane begins no update for an event for which it has applied its bytes") {
  const auto life = small_life();
  TurnJudge judge(life, kEventBytes);
  const auto more = Contains("a lane does more for one event than it may");
  judge.turn_begins(lane::Tick{});
  judge.applied(apply_of(1));
  CHECK_NOTHROW(judge.applied(apply_of(0)));  // the last one may be larger than what is left
  CHECK_THROWS_WITH_AS(judge.applied(apply_of(1)), more, Violation);
  judge.turn_begins(lane::GoOn{});
  for (int i = 0; i < 5; ++i) {
    CHECK_NOTHROW(judge.applied(apply_of(1)));
  }
  CHECK_THROWS_WITH_AS(judge.applied(apply_of(1)), more, Violation);
}

TEST_CASE("turn: what a lane measures for an event counts as what it applies") {
  const auto life = small_life();
  TurnJudge judge(life, kEventBytes);
  judge.turn_begins(lane::GoOn{});
  judge.measured({1, 0, 1, {}});
  CHECK_NOTHROW(judge.turn_ends(true));
  CHECK(judge.went_on());
  judge.applied(apply_of(0));
  CHECK_THROWS_WITH_AS(judge.measured({1, 0, 1, {}}), Contains("a lane does more for one event than it may"),
                       Violation);
}

TEST_CASE("turn: a lane that is told to go on does some of what it has left to do") {
  const auto life = small_life();
  TurnJudge judge(life, kEventBytes);
  judge.turn_begins(lane::Tick{});
  CHECK_NOTHROW(judge.turn_ends(true));
  judge.applied(apply_of(0));
  CHECK_FALSE(judge.went_on());
  judge.turn_begins(lane::GoOn{});
  CHECK_NOTHROW(judge.turn_ends(false));
  CHECK_THROWS_WITH_AS(judge.turn_ends(true),
                       Contains("a lane that is told to go on does nothing of what it has left to do"), Violation);
  judge.applied(apply_of(0));
  CHECK(judge.went_on());
  CHECK_NOTHROW(judge.turn_ends(true));
}

TEST_CASE("turn: a round that is read and decided is applied, or is left to do") {
  const auto life = small_life();
  const auto decided = Contains("an update is decided and not applied, and the lane says that it has nothing left");
  TurnJudge judge(life, kEventBytes);
  judge.turn_begins(measured(0, 2));
  CHECK_NOTHROW(judge.turn_ends(false));
  judge.planned(plan_of(2, {false}), 1);
  CHECK_NOTHROW(judge.turn_ends(false));  // its plan may have come before that of the steps between
  judge.planned(plan_of(1, {false}), 1);
  CHECK_NOTHROW(judge.turn_ends(false));
  judge.planned(plan_of(1, {false, false}), 1);
  CHECK_THROWS_WITH_AS(judge.turn_ends(false), decided, Violation);
  CHECK_NOTHROW(judge.turn_ends(true));
  judge.applied(apply_of(1));
  CHECK_THROWS_WITH_AS(judge.turn_ends(false), decided, Violation);
  auto begun = judge;
  begun.begins();
  auto planned_anew = begun;
  planned_anew.planned(plan_of(1, {false, false}), 1);
  CHECK_NOTHROW(planned_anew.turn_ends(false));
  begun.turn_begins(measured(0, 2));
  CHECK_NOTHROW(begun.turn_ends(false));
  judge.turn_begins(lane::GoOn{});
  judge.applied(apply_of(0));
  CHECK_NOTHROW(judge.turn_ends(false));
}

TEST_CASE("turn: a gradient that is not finite is applied only as one that is left out") {
  const auto life = small_life();
  TurnJudge judge(life, kEventBytes);
  judge.planned(plan_of(0, {false, true}), 0);
  judge.turn_begins(measured(0, 0, false));
  CHECK_NOTHROW(judge.turn_ends(false));
  judge.turn_begins(measured(0, 1, false));
  CHECK_THROWS_WITH_AS(judge.turn_ends(false), Contains("an update is decided and not applied"), Violation);
}

TEST_CASE("turn: in item mode no round waits") {
  const auto life = small_life_of_items(LifeItems::Journal::none);
  TurnJudge judge(life, kEventBytes);
  judge.planned(plan_of(0, {false}), 0);
  judge.turn_begins(measured(0, 0));
  CHECK_NOTHROW(judge.turn_ends(false));
}

TEST_CASE("turn: an item that is committed is applied, or is left to do") {
  const auto life = small_life_of_items(LifeItems::Journal::always);
  const auto committed = Contains("an update is committed and not applied, and the lane says that it has nothing left");
  TurnJudge judge(life, kEventBytes);
  judge.appended(append_of(5, 0, 3));
  judge.appended(append_of(6, 1, 3));
  judge.turn_begins(lane::Committed{4, 4});
  CHECK_NOTHROW(judge.turn_ends(false));
  judge.turn_begins(lane::Committed{5, 5});
  CHECK_THROWS_WITH_AS(judge.turn_ends(false), committed, Violation);
  CHECK_NOTHROW(judge.turn_ends(true));
  judge.turn_begins(lane::Committed{4, 4});
  CHECK_THROWS_WITH_AS(judge.turn_ends(false), committed, Violation);
  judge.applied(apply_of(0, 2));
  CHECK_THROWS_WITH_AS(judge.turn_ends(false), committed, Violation);
  auto begun = judge;
  begun.begins();
  CHECK_NOTHROW(begun.turn_ends(false));
  judge.turn_begins(lane::Tick{});
  judge.applied(apply_of(0, 3));
  CHECK_NOTHROW(judge.turn_ends(false));
}

}  // namespace
}  // namespace ballast::simulation
