#include "protocol/lead/typical_pace.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

KnownPace slot_of(Micros slot) { return {std::nullopt, slot, std::nullopt}; }

}  // namespace

TEST_CASE("what is typical is the median of what is known, each of its own, when it is settled") {
  TypicalPace typical;
  typical.settle();
  CHECK(typical.pace() == SessionPace{});
  typical.learn({}, {5, 100, std::nullopt});
  typical.learn({}, slot_of(300));
  typical.learn({}, {7, std::nullopt, 2.5});
  CHECK(typical.pace() == SessionPace{});
  typical.settle();
  CHECK(typical.pace() == SessionPace{7, 300, 2.5});
  typical.learn(slot_of(300), slot_of(50));
  typical.learn({}, slot_of(70));
  typical.settle();
  CHECK(typical.pace().slot == 70);
}

TEST_CASE(
    "what is typical of the others leaves one of those out that are alike, and is what it was where there are none") {
  TypicalPace typical;
  for (const Micros slot : {300, 100, 100, 900}) {
    typical.learn({}, slot_of(slot));
  }
  typical.settle();
  CHECK(typical.pace_beside({}).slot == 300);
  CHECK(typical.pace_beside(slot_of(100)).slot == 300);  // 100, 300, 900
  CHECK(typical.pace_beside(slot_of(300)).slot == 100);
  CHECK(typical.pace_beside(slot_of(900)).slot == 100);
  CHECK(typical.pace_beside(slot_of(900)).up == 0);
  typical.learn({}, {7, std::nullopt, 2.5});
  typical.settle();
  CHECK(typical.pace_beside({7, std::nullopt, 2.5}) == SessionPace{7, 300, 2.5});
}

TEST_CASE("of two sessions with the same pace one may go, and what nobody shows any more stays typical") {
  TypicalPace typical;
  for (const Micros slot : {100, 100, 900}) {
    typical.learn({}, slot_of(slot));
  }
  typical.learn(slot_of(100), {});
  typical.settle();
  CHECK(typical.pace().slot == 900);
  typical.learn(slot_of(900), {});
  typical.settle();
  CHECK(typical.pace().slot == 100);
  typical.learn(slot_of(100), {});
  typical.settle();
  CHECK(typical.pace().slot == 100);
}
