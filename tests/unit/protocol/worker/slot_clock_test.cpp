#include "protocol/worker/slot_clock.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("a clock that has seen no slot knows nothing") {
  const SlotClock clock;
  CHECK(clock.in_hand() == kNoSlot);
  CHECK(clock.in_hand_for(100) == 0);
  CHECK(clock.since_step_begun(100) == 0);
  CHECK(clock.slot_time() == 0);
}

TEST_CASE("a slot goes on until the next one is begun, or the computation ends") {
  SlotClock clock;
  clock.begins(3, 5, 1'000);
  CHECK(clock.step() == 3);
  CHECK(clock.in_hand() == 5);
  CHECK(clock.in_hand_for(1'040) == 40);
  CHECK(clock.slot_time() == 0);
  clock.begins(3, 6, 1'100);
  CHECK(clock.slot_time() == 100);
  CHECK(clock.in_hand() == 6);
  CHECK(clock.in_hand_for(1'130) == 30);
  clock.ends(1'300);
  CHECK(clock.in_hand() == kNoSlot);
  CHECK(clock.in_hand_for(1'400) == 0);
  CHECK(clock.slot_time() == 200);  // the upper of two
  clock.ends(9'000);                // nothing is in hand
  CHECK(clock.slot_time() == 200);
}

TEST_CASE("a step begins with its first slot, and stays begun") {
  SlotClock clock;
  clock.begins(3, 5, 1'000);
  clock.begins(3, 6, 1'100);
  clock.ends(1'200);
  CHECK(clock.since_step_begun(1'500) == 500);
  clock.begins(4, 5, 2'000);
  CHECK(clock.since_step_begun(2'010) == 10);
  CHECK(clock.step() == 4);
}

TEST_CASE("a step that begins with the clock at 0 has begun all the same") {
  SlotClock clock;
  clock.begins(0, 0, 0);
  CHECK(clock.since_step_begun(50) > 0);
}

TEST_CASE("the time of a slot is the median of the last fifteen, and never 0") {
  SlotClock clock;
  Micros now = 1;
  const auto slot = [&](Micros takes) {
    clock.begins(1, 0, now);
    now += takes;
    clock.ends(now);
  };
  slot(0);
  CHECK(clock.slot_time() == 1);
  for (int i = 0; i < 14; ++i) {
    slot(100);
  }
  slot(90'000);  // one outlier
  CHECK(clock.slot_time() == 100);
  for (int i = 0; i < 7; ++i) {
    slot(300);
  }
  CHECK(clock.slot_time() == 300);  // seven of 100, the outlier, seven of 300
  slot(300);
  CHECK(clock.slot_time() == 300);
}

TEST_CASE("what is in hand when all goes back counts for nothing, and the times before stay") {
  SlotClock clock;
  clock.begins(3, 5, 1'000);
  clock.ends(1'100);
  clock.begins(3, 6, 1'100);
  clock.rewind();
  CHECK(clock.in_hand() == kNoSlot);
  CHECK(clock.since_step_begun(1'200) == 0);
  clock.ends(9'000);
  CHECK(clock.slot_time() == 100);
  clock.begins(3, 6, 10'000);  // the same step of another timeline
  CHECK(clock.since_step_begun(10'001) == 1);
}
