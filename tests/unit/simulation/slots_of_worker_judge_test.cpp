// Which slots a worker computes, and whether all of them leave, by the judge alone.
#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include "tests/simulation/judge/slots_of_worker.h"
#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;

constexpr Slot kSlotsOfStep = 6;

Assign order_of_slots(Timeline timeline, const Standing& standing, std::optional<StepWork> now = {}) {
  Assign assign;
  assign.timeline = timeline;
  assign.rounds.standing = standing;
  assign.rounds.now = std::move(now);
  return assign;
}

TEST_CASE("slots of a worker: it computes what some order of the timeline has given it of that step") {
  OrderedSlots judge(kSlotsOfStep);
  const auto not_ordered = Contains("computed by a worker that has not been ordered to");
  CHECK_THROWS_WITH_AS(judge.computes(1, 2, {{0, 1}}), not_ordered, Violation);
  judge.heard(order_of_slots(1, {2, 4, {0, 2}}));
  CHECK_NOTHROW(judge.computes(1, 2, {{0, 2}}));
  CHECK_NOTHROW(judge.computes(1, 3, {{1, 2}}));
  CHECK_NOTHROW(judge.computes(1, 9, {}));
  CHECK_THROWS_WITH_AS(judge.computes(1, 1, {{0, 2}}), not_ordered, Violation);
  CHECK_THROWS_WITH_AS(judge.computes(1, 4, {{0, 2}}), not_ordered, Violation);
  CHECK_THROWS_WITH_AS(judge.computes(1, 2, {{0, 3}}), Contains("slots [2, 3) of step 2"), Violation);
  CHECK_THROWS_WITH_AS(judge.computes(2, 2, {{0, 2}}), not_ordered, Violation);

  judge.heard(order_of_slots(1, {3, 6, {1, 3}}, StepWork{2, {{5, 6}, {3, 4}}}));
  CHECK_NOTHROW(judge.computes(1, 2, {{0, 2}, {5, 6}, {3, 4}}));  // it may have begun before
  CHECK_NOTHROW(judge.computes(1, 5, {{1, 3}}));
  CHECK_THROWS_WITH_AS(judge.computes(1, 2, {{4, 5}}), not_ordered, Violation);
  CHECK_THROWS_WITH_AS(judge.computes(1, 3, {{5, 6}}), not_ordered, Violation);  // not of the step after it
  judge.heard(order_of_slots(1, {3, 6, {1, 3}}, StepWork{2, {{4, 5}}}));
  CHECK_NOTHROW(judge.computes(1, 2, {{3, 6}}));
}

TEST_CASE("slots of a worker: all that are begun leave, once in each chunk") {
  BegunSlots judge(kSlotsOfStep, 2);
  CHECK_NOTHROW(judge.end());
  judge.begins(2);
  judge.begins(3);
  judge.leaves(0, {2, 4});
  judge.leaves(1, {2, 3});
  CHECK_THROWS_WITH_AS(judge.end(), Contains("has begun slots [3, 4), and is over without chunk 1 of them"), Violation);
  judge.leaves(1, {3, 4});
  CHECK_NOTHROW(judge.end());
  CHECK_THROWS_WITH_AS(judge.leaves(0, {3, 4}), Contains("leaves in two sums"), Violation);
  judge.begins(5);
  judge.leaves(1, {5, 6});
  CHECK_THROWS_WITH_AS(judge.end(), Contains("slots [5, 6), and is over without chunk 0"), Violation);
}

}  // namespace
}  // namespace ballast::simulation
