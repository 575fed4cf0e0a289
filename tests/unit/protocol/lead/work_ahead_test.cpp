#include "protocol/lead/work_ahead.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kOpened = 1'000'000;
constexpr Micros kOneSlot = 100'000;
const StepSize kStep{.slots = 16, .bytes = 0, .chunks = 1};  // sums are sent in no time
const SessionPace kTypical{30'000, kOneSlot, 0};

// Step 3 is open, all of it is missing, and the session has slots 4 to 12 of it.
struct AheadFixture {
  AheadFixture() {
    open.step = 3;
    open.is_observed = true;
    open.opened = kOpened;
    open.missing = SlotSet::full(16);
    holder.share.begin({4, 12}, true);
  }
  void beat(const std::vector<SlotRange>& computed, Slot in_hand, Micros in_hand_for, Micros now) {
    SlotProgress progress;
    progress.step = 3;
    progress.computed = computed;
    progress.in_hand = in_hand;
    progress.in_hand_for = in_hand_for;
    progress.begun = 1;
    progress.slot_time = kOneSlot;
    holder.seen.heard(progress, 3, kOpened, now);
  }
  [[nodiscard]] WorkAhead ahead() const { return {holder, open, kStep, kTypical}; }

  SlotHolder holder{16};
  OpenStep open{16};
};

}  // namespace

TEST_CASE("a session that has not come to the step begins its lag after the opening, or when it was heard") {
  AheadFixture at;
  CHECK(at.ahead().end() == kOpened + 30'000 + 8 * kOneSlot);
  CHECK(MoreWork(at.holder, at.open, kStep, kTypical, kOpened).begin() == kOpened + 30'000);
  at.holder.seen.heard({}, 3, kOpened, kOpened + 50'000);
  CHECK(at.ahead().end() == kOpened + 50'000 + 8 * kOneSlot);
}

TEST_CASE("a session that has nothing in hand goes on when it was heard, was given its share, or the step opened") {
  AheadFixture at;
  at.beat({{4, 6}}, kNoSlot, 0, kOpened + 500'000);
  CHECK(at.ahead().end() == kOpened + 500'000 + 6 * kOneSlot);
  at.holder.share.give(kOpened + 600'000);
  CHECK(at.ahead().end() == kOpened + 600'000 + 6 * kOneSlot);
  at.open.opened = kOpened + 700'000;
  CHECK(at.ahead().end() == kOpened + 700'000 + 6 * kOneSlot);
}

TEST_CASE("the slot in hand ends first, and what is begun or not missing is not ahead") {
  AheadFixture at;
  const auto now = kOpened + 500'000;
  at.beat({{4, 6}}, 6, 40'000, now);
  CHECK(at.ahead().most() == 5);
  CHECK(at.ahead().end() == now + 60'000 + 5 * kOneSlot);
  CHECK(at.ahead().end(2) == now + 60'000 + 3 * kOneSlot);
  CHECK(at.ahead().tail(2) == SlotRange{10, 12});
  CHECK(at.ahead().begin_of_tail(2) == now + 60'000 + 3 * kOneSlot);
  CHECK(at.ahead().begin_of_tail(5) == now + 60'000);
  CHECK(MoreWork(at.holder, at.open, kStep, kTypical, now).begin() == now);
  at.open.missing.erase({7, 9});
  CHECK(at.ahead().end() == now + 60'000 + 3 * kOneSlot);
}

TEST_CASE("a slot that takes longer than it should ends when the session was heard") {
  AheadFixture at;
  const auto now = kOpened + 500'000;
  at.beat({}, 4, 3 * kOneSlot, now);
  CHECK(at.ahead().end() == now + 7 * kOneSlot);
}

TEST_CASE("ranges are computed one after the other, and only the last one has a tail") {
  AheadFixture at;
  at.holder.share.add({0, 2}, false);
  CHECK(at.ahead().most() == 2);
  CHECK(at.ahead().tail(1) == SlotRange{1, 2});
  CHECK(at.ahead().begin_of_tail(1) == kOpened + 30'000 + 9 * kOneSlot);
  CHECK(at.ahead().end() == kOpened + 30'000 + 10 * kOneSlot);
  CHECK(at.ahead().end(2) == kOpened + 30'000 + 8 * kOneSlot);
}

TEST_CASE("the sums of a range before the last one keep the uplink for those of the last") {
  AheadFixture at;
  at.holder.share.begin({4, 8}, true);
  at.holder.share.add({8, 9}, false);
  const StepSize large{.slots = 16, .bytes = 3 * kOneSlot, .chunks = 1};
  const WorkAhead ahead(at.holder, at.open, large, {0, kOneSlot, 1});
  // Node 4-8 leaves from slot 4's end to three slots after it, and then that of slot 8.
  CHECK(ahead.end() == kOpened + (4 + 3 + 3) * kOneSlot);
  CHECK(ahead.end(1) == kOpened + (4 + 3) * kOneSlot);
}
