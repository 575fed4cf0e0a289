#include "protocol/lead/slot_session.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Slot kSessionSlots = 8;

// At work on a slot of the step, of which it has computed those before it.
SlotProgress progress_at(Step step, Slot in_hand, Micros begun = 100) {
  SlotProgress progress;
  progress.step = step;
  if (in_hand > 0) {
    progress.computed = {{0, in_hand}};
  }
  progress.in_hand = in_hand;
  progress.in_hand_for = 10;
  progress.begun = begun;
  progress.slot_time = 50;
  return progress;
}

}  // namespace

TEST_CASE("a session that was not heard of is nowhere") {
  const SlotSession session(kSessionSlots);
  CHECK_FALSE(session.is_known());
  CHECK_FALSE(session.has_begun(0));
  CHECK(session.computed(0) == nullptr);
  CHECK(session.in_hand(0) == kNoSlot);
  CHECK(session.pace({5, 70, 2.0}) == SessionPace{5, 70, 2.0});
}

TEST_CASE("a session that has begun nothing is nowhere, however often it is heard of") {
  SlotSession session(kSessionSlots);
  session.heard({}, 0, 0, 100);
  CHECK_FALSE(session.heard({}, 0, 0, 200));  // and does not get on
  CHECK_FALSE(session.has_begun(0));
  CHECK(session.computed(0) == nullptr);
}

TEST_CASE("heartbeats tell what a session has computed of a step, and which slot it computes") {
  SlotSession session(kSessionSlots);
  CHECK(session.heard(progress_at(3, 2), 3, 500, 1'000));
  CHECK(session.is_known());
  CHECK(session.has_begun(3));
  CHECK(session.has_begun(2));  // it has newer weights
  CHECK_FALSE(session.has_begun(4));
  REQUIRE(session.computed(3) != nullptr);
  CHECK(session.computed(3)->runs() == std::vector<SlotRange>{{0, 2}});
  CHECK(session.computed(2) == nullptr);
  CHECK(session.in_hand(3) == 2);
  CHECK(session.in_hand(4) == kNoSlot);
  CHECK(session.in_hand_since() == 990);
}

TEST_CASE("a session gets on when it begins or ends a slot, and not when it says the same again") {
  SlotSession session(kSessionSlots);
  session.heard(progress_at(3, 2), 3, 500, 1'000);
  CHECK_FALSE(session.heard(progress_at(3, 2, 200), 3, 500, 1'100));
  CHECK(session.heard(progress_at(3, 3), 3, 500, 1'200));
  CHECK(session.computed(3)->runs() == std::vector<SlotRange>{{0, 3}});
  auto ended = progress_at(3, 3);
  ended.computed = {{0, 4}};
  ended.in_hand = kNoSlot;
  CHECK(session.heard(ended, 3, 500, 1'300));
  CHECK_FALSE(session.heard(ended, 3, 500, 1'400));
  CHECK(session.heard(progress_at(4, 0), 3, 500, 1'500));
}

TEST_CASE("the lag is the time from a step's opening to the session's first slot, the median over steps") {
  SlotSession session(kSessionSlots);
  session.heard(progress_at(0, 1, 400), 0, 1'000, 1'500);
  CHECK(session.lag() == 100);
  session.heard(progress_at(0, 2, 450), 0, 1'000, 9'000);  // of a step once
  CHECK(session.lag() == 100);
  session.heard(progress_at(1, 1, 100), 1, 9'000, 9'400);
  session.heard(progress_at(2, 1, 100), 2, 10'000, 10'400);
  CHECK(session.lag() == 300);
}

TEST_CASE("there is no lag of a step that is not open, and none where the session began before the lead knew") {
  SlotSession session(kSessionSlots);
  session.heard(progress_at(4, 1, 100), 3, 1'000, 1'500);
  CHECK(session.lag() == 0);
  session.heard(progress_at(4, 2, 900), 4, 1'200, 1'600);  // begun at 700
  session.heard(progress_at(5, 2, 100), 5, 2'000, 2'600);
  session.heard(progress_at(6, 2, 100), 6, 3'000, 3'600);
  CHECK(session.lag() == 500);  // of 0, 500 and 500
}

TEST_CASE("a session's uplink is free when what it has to send is gone, at the rate that it tells") {
  SlotSession session(kSessionSlots);
  auto progress = progress_at(0, 1);
  progress.without_receipt = 5'000;
  session.heard(progress, 0, 0, 1'000);
  CHECK(session.uplink_free() == 1'000);  // its rate is not known
  CHECK(session.pace({5, 70, 2.0}) == SessionPace{session.lag(), 50, 2.0});
  progress.up = 1'000'000;
  session.heard(progress, 0, 0, 2'000);
  CHECK(session.uplink_free() == 7'000);
  CHECK(session.pace({5, 70, 2.0}) == SessionPace{session.lag(), 50, 1.0});
}

TEST_CASE("the weights reach a session in their transfer's time, or in its lag if that is longer") {
  const StepSize step{.slots = kSessionSlots, .bytes = 10'000, .chunks = 1};
  SlotSession session(kSessionSlots);
  CHECK(session.pull_time(step, {}) == 0);
  CHECK(session.pull_time(step, {300, 70, 2.0}) == 300);
  auto progress = progress_at(0, 1, 400);
  progress.down = 10'000'000;
  session.heard(progress, 0, 1'000, 1'500);  // a lag of 100
  CHECK(session.pull_time(step, {}) == 1'000);
  progress.down = 1'000'000'000;
  session.heard(progress, 0, 1'000, 1'500);
  CHECK(session.pull_time(step, {}) == 100);
}

TEST_CASE("in a new timeline a session is nowhere, and as fast as before") {
  SlotSession session(kSessionSlots);
  session.heard(progress_at(3, 2, 400), 3, 1'000, 1'500);
  session.rewind();
  CHECK_FALSE(session.has_begun(0));
  CHECK(session.computed(3) == nullptr);
  CHECK(session.in_hand(3) == kNoSlot);
  CHECK(session.is_known());
  CHECK(session.lag() == 100);
  CHECK(session.heard(progress_at(3, 2), 3, 1'000, 2'000));  // has got on, though it says what it said before
  REQUIRE(session.computed(3) != nullptr);
  CHECK(session.computed(3)->count() == 2);
}

TEST_CASE("slots that the job does not have are nobody's") {
  SlotSession session(kSessionSlots);
  auto progress = progress_at(0, 1);
  progress.computed = {{6, 4'000}};
  session.heard(progress, 0, 0, 1'000);
  CHECK(session.computed(0)->runs() == std::vector<SlotRange>{{6, 8}});
}

TEST_CASE("a session that tells impossible figures has spans of 12 days, and no moment before now") {
  SlotSession session(kSessionSlots);
  auto progress = progress_at(0, 1);
  progress.without_receipt = ~std::uint64_t{0};
  progress.up = 1;
  session.heard(progress, 0, 0, 1'000);
  progress.slot_time = ~Micros{0};
  progress.in_hand_for = ~Micros{0};
  session.heard(progress, 0, 0, 1'000);
  constexpr auto kLongest = Micros{1} << 40U;
  CHECK(session.uplink_free() == 1'000 + kLongest);
  CHECK(session.pace({}).slot == kLongest);
  CHECK(session.progress().in_hand_for == kLongest);
  CHECK(session.in_hand_since() == 0);
}

TEST_CASE("a session that has computed less of a step than before has given some of it up, in that step") {
  SlotSession session(kSessionSlots);
  session.heard(progress_at(1, 4), 1, 0, 100);
  CHECK_FALSE(session.has_given_up(1));
  session.heard(progress_at(2, 1), 2, 0, 200);  // another step begins with nothing
  CHECK_FALSE(session.has_given_up(2));
  session.heard(progress_at(2, 3), 2, 0, 300);
  CHECK_FALSE(session.has_given_up(2));
  session.heard(progress_at(2, 2), 2, 0, 400);
  CHECK(session.has_given_up(2));
  session.heard(progress_at(2, 4), 2, 0, 500);
  CHECK(session.has_given_up(2));
  CHECK_FALSE(session.has_given_up(1));
  session.heard(progress_at(3, 4), 3, 0, 600);
  CHECK_FALSE(session.has_given_up(3));
}
