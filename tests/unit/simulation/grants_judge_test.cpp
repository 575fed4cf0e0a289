// What the lead grants and plans in item mode, by the judge alone.
#include <doctest/doctest.h>

#include <vector>

#include "tests/simulation/judge/grants.h"
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/reference.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;

constexpr SessionId kSession = 3;

LifeSpec life_of_cuts() {
  auto life = small_life_of_items(LifeItems::Journal::none);
  life.items->bound = 1;
  life.snapshot_every = 2;
  return life;
}

ItemHistories begun(const LifeSpec& life) {
  ItemHistories histories(life);
  histories.begin(1, {0, 0});
  return histories;
}

Assign assign_of(const std::vector<Grant>& grants) {
  Assign assign;
  assign.timeline = 1;
  assign.items.grants = grants;
  return assign;
}

Plan plan_of(const LifeSpec& life, Version first, Version until) {
  Plan plan;
  plan.timeline = 1;
  plan.first = first;
  for (auto version = first; version < until; ++version) {
    plan.factors.push_back(factors(version / life.slots, version));
  }
  return plan;
}

TEST_CASE("grants: an item is granted when everything up to the last cut before it is there") {
  const auto life = life_of_cuts();
  auto histories = begun(life);
  GrantsJudge judge(life);
  CHECK_NOTHROW(judge.assigned(histories, kSession, assign_of({{3, {1, 1}}})));
  CHECK_THROWS_WITH_AS(judge.assigned(histories, kSession, assign_of({{2, {1, 2}}, {4, {1, 3}}})),
                       Contains("item 4 is granted, before everything below item 4 is there"), Violation);
  histories.of(1).furthest = 2;
  CHECK_NOTHROW(judge.assigned(histories, kSession, assign_of({{4, {1, 3}}, {7, {1, 4}}})));
  CHECK_THROWS_WITH_AS(judge.assigned(histories, kSession, assign_of({{8, {1, 5}}})),
                       Contains("item 8 is granted, before everything below item 8 is there"), Violation);
}

TEST_CASE("grants: each has a clock of its own, and may be said again") {
  const auto life = life_of_cuts();
  const auto histories = begun(life);
  GrantsJudge judge(life);
  judge.assigned(histories, kSession, assign_of({{0, {1, 1}}}));
  CHECK_NOTHROW(judge.assigned(histories, kSession, assign_of({{0, {1, 1}}, {0, {1, 2}}})));
  CHECK_THROWS_WITH_AS(judge.assigned(histories, kSession, assign_of({{1, {1, 1}}})),
                       Contains("two grants have the same clock"), Violation);
  CHECK_THROWS_WITH_AS(judge.assigned(histories, kSession + 1, assign_of({{0, {1, 1}}})),
                       Contains("two grants have the same clock"), Violation);
}

TEST_CASE("grants: one that its session has delivered or dropped is ordered no more") {
  const auto life = life_of_cuts();
  const auto histories = begun(life);
  GrantsJudge judge(life);
  judge.assigned(histories, kSession, assign_of({{0, {1, 1}}, {1, {1, 2}}}));
  judge.settled({{1, 1}, {1, 3}});
  CHECK_NOTHROW(judge.assigned(histories, kSession, assign_of({{1, {1, 2}}, {0, {1, 4}}})));  // granted anew
  CHECK_THROWS_WITH_AS(judge.assigned(histories, kSession, assign_of({{0, {1, 1}}})),
                       Contains("a grant is ordered that its session has said to have delivered or dropped"),
                       Violation);
  CHECK_THROWS_AS(judge.assigned(histories, kSession, assign_of({{1, {1, 3}}})), Violation);
}

TEST_CASE("grants: a plan goes up to the next cut, with the factors of its versions") {
  const auto life = life_of_cuts();
  auto histories = begun(life);
  const GrantsJudge judge(life);
  const auto beyond = Contains("a plan beyond the next step where all wait");
  CHECK_THROWS_WITH_AS(judge.planned(histories, plan_of(life, 0, 5)), beyond, Violation);
  CHECK(histories.of(1).planned == 0);
  CHECK_NOTHROW(judge.planned(histories, plan_of(life, 0, 4)));
  CHECK(histories.of(1).planned == 4);
  CHECK_NOTHROW(judge.planned(histories, plan_of(life, 0, 2)));
  CHECK(histories.of(1).planned == 4);
  CHECK_THROWS_WITH_AS(judge.planned(histories, plan_of(life, 4, 5)), beyond, Violation);

  const auto others = Contains("a plan with other factors than a version's");
  auto plan = plan_of(life, 1, 3);
  plan.factors[1].step_size = 1;
  CHECK_THROWS_WITH_AS(judge.planned(histories, plan), others, Violation);
  plan = plan_of(life, 1, 3);
  plan.factors[0].skip = true;  // which is decided of an item as it comes
  CHECK_THROWS_WITH_AS(judge.planned(histories, plan), others, Violation);
  plan = plan_of(life, 1, 3);
  plan.first = 0;
  CHECK_THROWS_WITH_AS(judge.planned(histories, plan), others, Violation);
}

TEST_CASE("grants: one is delayed if a session waits and an item that is planned is not granted") {
  const auto life = life_of_cuts();
  auto histories = begun(life);
  GrantsJudge judge(life);
  judge.assigned(histories, kSession, assign_of({{0, {1, 1}}, {1, {1, 2}}}));
  judge.planned(histories, plan_of(life, 0, 2));
  judge.assigned(histories, kSession, assign_of({}));
  CHECK_FALSE(judge.facts().has(Fact::grant_delayed));  // nothing more is planned
  judge.planned(histories, plan_of(life, 0, 4));
  auto assign = assign_of({});
  assign.evaluation = Evaluation{};
  judge.assigned(histories, kSession, assign);
  assign = assign_of({});
  assign.timeline = 0;
  judge.assigned(histories, kSession, assign);
  auto unbound = life;
  unbound.items->bound = 0;
  GrantsJudge of_unbound(unbound);
  of_unbound.assigned(histories, kSession, assign_of({}));
  CHECK_FALSE(of_unbound.facts().has(Fact::grant_delayed));
  CHECK_FALSE(judge.facts().has(Fact::grant_delayed));
  judge.assigned(histories, kSession, assign_of({}));
  CHECK(judge.facts().has(Fact::grant_delayed));
}

}  // namespace
}  // namespace ballast::simulation
