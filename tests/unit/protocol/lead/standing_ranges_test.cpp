#include "protocol/lead/standing_ranges.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

using StandingOf = StandingRanges::Ranges;

}  // namespace

TEST_CASE("before any division nobody has a range") {
  const StandingRanges ranges;
  CHECK(ranges.empty());
  CHECK(ranges.generation() == 0);
  CHECK_FALSE(ranges.holds_at(0));
  CHECK(ranges.at(7).empty());
  CHECK(ranges.newest().empty());
  CHECK(ranges.standing(1, 9) == Standing{});
}

TEST_CASE("a division holds from its step on, and has a number of its own") {
  StandingRanges ranges;
  ranges.divide({{1, {0, 2}}, {2, {2, 4}}}, 0);
  const auto first = ranges.generation();
  CHECK(ranges.standing(1, 9) == Standing{0, 9, {0, 2}});
  ranges.divide({{2, {0, 4}}}, 3);
  CHECK(ranges.generation() > first);
  CHECK(ranges.standing(2, 9) == Standing{3, 9, {0, 4}});
  CHECK(ranges.standing(1, 9) == Standing{3, 9, {}});
  CHECK(ranges.at(2) == StandingOf{{1, {0, 2}}, {2, {2, 4}}});
  CHECK(ranges.at(3) == StandingOf{{2, {0, 4}}});
  CHECK(ranges.newest() == ranges.at(3));
}

TEST_CASE("an order ends where it begins if nothing is given out there") {
  StandingRanges ranges;
  ranges.divide({{1, {0, 4}}}, 5);
  CHECK(ranges.standing(1, 3) == Standing{5, 5, {0, 4}});
}

TEST_CASE("no division holds at steps before the first") {
  StandingRanges ranges;
  ranges.divide({{1, {0, 4}}}, 5);
  CHECK(ranges.holds_at(5));
  CHECK_FALSE(ranges.holds_at(4));
  CHECK(ranges.at(4).empty());
}

TEST_CASE("a division replaces those that would begin no earlier") {
  StandingRanges ranges;
  ranges.divide({{1, {0, 4}}}, 0);
  ranges.divide({{2, {0, 4}}}, 6);
  ranges.divide({{3, {0, 4}}}, 4);
  CHECK(ranges.at(3) == StandingOf{{1, {0, 4}}});
  CHECK(ranges.at(9) == StandingOf{{3, {0, 4}}});
  ranges.divide({{5, {0, 4}}}, 4);
  CHECK(ranges.at(4) == StandingOf{{5, {0, 4}}});
}

TEST_CASE("a session that is lost has no range in any division") {
  StandingRanges ranges;
  ranges.divide({{1, {0, 2}}, {2, {2, 4}}}, 0);
  ranges.divide({{1, {0, 3}}, {2, {3, 4}}}, 4);
  ranges.lose(1);
  CHECK(ranges.at(0) == StandingOf{{2, {2, 4}}});
  CHECK(ranges.newest() == StandingOf{{2, {3, 4}}});
  CHECK(ranges.standing(1, 9).slots.empty());
}

TEST_CASE("what held before the open step is forgotten, and what holds at it is not") {
  StandingRanges ranges;
  ranges.divide({{1, {0, 4}}}, 0);
  ranges.divide({{2, {0, 4}}}, 3);
  ranges.forget_before(2);
  CHECK(ranges.at(2) == StandingOf{{1, {0, 4}}});
  ranges.forget_before(3);
  CHECK_FALSE(ranges.holds_at(2));
  CHECK(ranges.at(3) == StandingOf{{2, {0, 4}}});
  ranges.forget_before(90);
  CHECK(ranges.at(90) == StandingOf{{2, {0, 4}}});
}

TEST_CASE("after a rollback nothing holds, and no number is used again") {
  StandingRanges ranges;
  ranges.divide({{1, {0, 4}}}, 0);
  const auto before = ranges.generation();
  ranges.rewind();
  CHECK(ranges.empty());
  ranges.divide({{1, {0, 4}}}, 0);
  CHECK(ranges.generation() > before);
}
