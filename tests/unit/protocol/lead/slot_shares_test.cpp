#include "protocol/lead/slot_shares.h"

#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/shares_fixture.h"
#include "tests/unit/protocol/states.h"

using namespace ballast;
using namespace ballast::slot_shares;

// ---- division

TEST_CASE("a division gives every slot to exactly one session") {
  for (Slot count = 1; count <= 20; ++count) {
    for (std::uint64_t sessions = 1; sessions <= 25; ++sessions) {
      SharesFixture at(count, {});
      for (std::uint64_t id = 1; id <= sessions; ++id) {
        at.sessions.push_back(id);
      }
      at.shares.divide(at.sessions, 0);
      Slot next = 0;
      for (const auto id : at.sessions) {
        const auto range = at.shares.standing(id, 5).slots;
        CHECK(range.begin == next);
        CHECK(range.size() <= count / sessions + 1);
        next = range.end;
      }
      CHECK(next == count);
    }
  }
}

TEST_CASE("a division begins at its step, has a number of its own, and leaves the open step as it is") {
  SharesFixture at(4, {1, 2});
  const auto first = at.shares.generation();
  CHECK(at.shares.standing(1, 9) == Standing{0, 9, {0, 2}});
  CHECK_FALSE(at.shares.now(1).has_value());
  at.shares.divide({2}, 3);
  CHECK(at.shares.generation() > first);
  CHECK(at.shares.standing(2, 9) == Standing{3, 9, {0, 4}});
  CHECK(at.shares.standing(1, 9).slots.empty());
  // Orders name the newest division alone: until it holds, what the open step has is named as well.
  CHECK(at.shares.now(1) == StepWork{0, {{0, 2}}});
  CHECK(at.shares.now(2) == StepWork{0, {{2, 4}}});
}

TEST_CASE("the next step is divided by speed when the first session has nothing left of this one") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {}, 0);
  at.beat(2, {}, 4, 0, 3 * kSlotTime);
  at.hand_out();
  CHECK(at.shares.standing(1, 9) == Standing{0, 9, {0, 4}});
  at.now += 4 * kSlotTime;
  at.beat(1, {{0, 4}});
  at.beat(2, {{4, 5}}, 5, kSlotTime, 3 * kSlotTime);
  at.hand_out();
  CHECK(at.shares.standing(1, 9) == Standing{1, 9, {0, 6}});
  CHECK(at.shares.standing(2, 9) == Standing{1, 9, {6, 8}});
  const auto generation = at.shares.generation();
  at.now += kSlotTime;
  at.hand_out();
  CHECK(at.shares.generation() == generation);  // once a step
}

TEST_CASE("without by_speed all get as many slots, however fast they are") {
  SlotShares::Rules even;
  even.by_speed = false;
  SharesFixture at(8, {1, 2}, even);
  at.beat(1, {{0, 4}});
  at.beat(2, {}, 4, 0, 9 * kSlotTime);
  at.hand_out();
  at.shares.divide(at.sessions, 1);
  CHECK(at.shares.standing(1, 9).slots == SlotRange{0, 4});
  CHECK(at.shares.standing(2, 9).slots == SlotRange{4, 8});
  CHECK(at.shares.generation() == 1);  // who keeps what it has is told nothing
}

TEST_CASE("a session of which nothing is known is taken to be like the others, its lag and its uplink as well") {
  SlotShares::Rules rules = SharesFixture::rules_of(12, {});
  rules.step.bytes = 1'000'000;
  SlotShares shares(rules);
  shares.divide({1, 2}, 0);
  shares.observe(0, SlotSet::full(12), 0);
  for (const SessionId session : {1, 2}) {
    SlotProgress progress;
    progress.in_hand = 0;
    progress.in_hand_for = 10'000;
    progress.begun = 10'000;
    progress.slot_time = kSlotTime;
    progress.up = 500'000;  // a node takes twenty slots' time
    shares.heard(session, progress, 60'000);
  }
  shares.divide({1, 2, 3}, 1);
  for (const SessionId session : {1, 2, 3}) {
    CHECK(shares.standing(session, 9).slots.size() == 4);
  }
}

// ---- nothing to do

TEST_CASE("what somebody brings in time is not handed out again") {
  SharesFixture at(4, {1, 2});
  at.now += kNothingKnown;
  at.hand_out();
  CHECK(at.shares.take_changed().empty());
  CHECK_FALSE(at.shares.now(1).has_value());
  CHECK_FALSE(at.shares.now(2).has_value());
}

TEST_CASE("nothing is handed out at the limit, before anything is observed, or to nobody") {
  SharesFixture at(4, {1, 2});
  at.beat(2, {{2, 4}});
  at.lose(1);
  at.hand_out(0);
  CHECK(at.shares.take_changed().empty());
  SlotShares unobserved(SharesFixture::rules_of(4, {}));
  unobserved.divide({1}, 0);
  unobserved.hand_out({1}, {}, kNoLimit, 99 * kNothingKnown);
  CHECK(unobserved.take_changed().empty());
  at.sessions.clear();
  at.hand_out();
  CHECK(at.shares.take_changed().empty());
  at.sessions = {2};
  at.hand_out();
  CHECK(at.shares.take_changed() == std::set<SessionId>{1, 2});
}

// ---- what nobody brings

TEST_CASE("a lost session's slots go to one that has nothing left, and to a busy one when it has done its own") {
  SharesFixture at(4, {1, 2});
  at.beat(2, {}, 2);
  at.lose(1);
  at.hand_out();
  CHECK_FALSE(at.shares.now(2).has_value());
  at.beat(2, {{2, 4}});
  at.hand_out();
  CHECK(at.work(2) == Ranges{{0, 2}});
  CHECK(at.shares.reassigned() == 2);
  CHECK(at.shares.backups() == 0);
}

TEST_CASE("idle sessions share what nobody brings, its last slots first, each its part of what is left") {
  SlotShares::Rules even;
  even.by_speed = false;
  SharesFixture at(8, {1, 2, 3}, even);
  at.shares.divide({1}, 0);
  at.shares.reopen(at.now);
  at.lose(1);
  at.hand_out();
  CHECK(at.work(2) == Ranges{{4, 8}});
  CHECK(at.work(3) == Ranges{{2, 4}});
  at.beat(3, {{2, 4}});
  at.hand_out();
  CHECK(at.work(3) == Ranges{{1, 2}});
}

TEST_CASE("what was handed out is not handed out again while its session is counted on") {
  SharesFixture at(12, {1, 2, 3});
  at.lose(1);
  at.beat(2, {{4, 8}});
  at.beat(3, {{8, 12}});
  at.hand_out();
  CHECK(at.shares.take_changed() == std::set<SessionId>{1, 2, 3});
  for (int i = 0; i < 3; ++i) {
    at.hand_out();
    CHECK(at.shares.take_changed().empty());
  }
  at.now += kSlotTime;
  at.hand_out();
  CHECK(at.shares.take_changed().empty());
}

TEST_CASE("what was given for one step ends with it") {
  SharesFixture at(4, {1, 2});
  at.beat(2, {{2, 4}});
  at.lose(1);
  at.hand_out();
  CHECK(at.work(2) == Ranges{{0, 2}});
  at.open_step(1);
  CHECK(at.work(2) == Ranges{{0, 4}});  // its range of all steps from there on
  CHECK(at.shares.standing(2, 9) == Standing{1, 9, {0, 4}});
  CHECK(at.shares.missing().count() == 4);
}

TEST_CASE("whatever is missing comes to whoever is left") {
  for (std::uint64_t bits = 1; bits < 64; ++bits) {
    CAPTURE(bits);
    SharesFixture at(6, {1});
    at.missing = SlotSet::from_words(6, {bits});
    at.shares.observe(0, at.missing, at.now);
    at.lose(1);
    at.sessions = {7};
    for (int turn = 0; turn < 10 && !at.missing.empty(); ++turn) {
      at.hand_out();
      const auto work = at.work(7);
      REQUIRE_FALSE(work.empty());
      CHECK(set_of_slots(6, work).count() > 0);
      at.beat(7, work);
      at.arrive(work);
    }
    CHECK(at.missing.empty());
  }
}

// ---- newcomers

namespace {

// Sums of 1 MB; of sessions 1 and 2 all is known: slots of 250 ms, a megabyte a second, 2 ms until they begin.
SharesFixture slow_links() {
  SharesFixture at(8, {1, 2});
  SlotShares::Rules rules = SharesFixture::rules_of(8, {});
  rules.step.bytes = 1'000'000;
  at.shares = SlotShares(rules);
  at.shares.divide(at.sessions, 0);
  at.shares.observe(0, at.missing, at.now);
  at.now += 3'000;
  for (const SessionId session : {1, 2}) {
    SlotProgress progress;
    progress.in_hand = session == 1 ? 0 : 4;
    progress.begun = 1'000;
    progress.slot_time = 250'000;
    progress.up = 1'000'000;
    at.shares.heard(session, progress, at.now);
  }
  return at;
}

}  // namespace

TEST_CASE("newcomers are taken to be like the others, their links and lags as well") {
  auto at = slow_links();
  at.sessions = {1, 2, 3, 4};
  at.shares.divide(at.sessions, 1);
  for (const auto session : at.sessions) {
    CHECK(at.shares.standing(session, 9).slots.size() == 2);
  }
}

TEST_CASE("a newcomer's tail ends with its holder's share, the sending of it counted") {
  auto at = slow_links();
  at.sessions = {1, 2, 3};
  at.hand_out();
  REQUIRE(at.work(3).size() == 1);
  CHECK(at.work(3)[0].size() == 2);  // sent in no time, a third slot would be done before the holder's first
}

TEST_CASE("first who would have sent one slot more first takes a tail, though its slots take longer") {
  auto at = slow_links();
  at.sessions = {1, 2, 3, 4};
  for (const SessionId session : {3, 4}) {
    SlotProgress progress;
    progress.begun = 1'000;
    progress.slot_time = session == 3 ? 249'000 : 251'000;
    progress.up = session == 3 ? 1'000'000 : 1'000'000'000;  // a second for the sums of a slot, or a millisecond
    at.shares.heard(session, progress, at.now);
  }
  at.arrive({{0, 6}});
  at.hand_out();
  CHECK(at.work(3).empty());
  CHECK(at.work(4) == Ranges{{6, 8}});
}

TEST_CASE("whatever a session tells of itself, others get its share after a while") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 4}});
  SlotProgress absurd;
  absurd.begun = 1;
  absurd.slot_time = kSlotTime;
  absurd.without_receipt = ~std::uint64_t{0};
  absurd.up = 1;
  at.shares.heard(2, absurd, at.now);
  at.open_step(1);
  at.beat(1, {{0, 4}});
  at.hand_out();
  at.arrive({{0, 4}});
  CHECK_FALSE(at.work(2).empty());
  at.now += 1 + kNothingKnown + 3 * 8 * kSlotTime;
  at.beat(1, {{0, 4}});
  absurd.step = 1;
  at.shares.heard(2, absurd, at.now);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{4, 8}});
}

TEST_CASE("of two sessions neither lets the other wait for what it tells of itself") {
  SlotShares::Rules even;
  even.by_speed = false;
  SharesFixture at(8, {1, 2}, even);
  constexpr Micros kEver = 1'000'000'000'000;
  at.beat(1, {{0, 4}});
  at.beat(2, {}, 4, 0, kEver);
  at.open_step(1);
  at.now += 1 + kNothingKnown + 3 * 8 * kSlotTime;
  at.beat(1, {{0, 4}});
  at.beat(2, {}, 4, kEver, kEver);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{5, 8}});
}

TEST_CASE("a session that is lost while it has nothing of the open step is forgotten, and no other one") {
  SlotHolders holders(SharesFixture::rules_of(4, {}));
  holders.open_step(0, SlotSet::full(4), {SlotSet::full(4), {}}, {{1, {0, 4}}}, 10'000'000);
  for (const SessionId session : {1, 10}) {
    holders.heard(session, {}, 10'000'000);
    holders.lose(session);
  }
  CHECK(holders.find(1) != nullptr);
  CHECK(holders.find(10) == nullptr);
}

// ---- sessions that leave

TEST_CASE("what a leaving session has begun is given to nobody, and the rest of its share at once") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 4}});
  SlotProgress leaving;
  leaving.computed = {{4, 5}};
  leaving.in_hand = 5;
  leaving.begun = 1;
  leaving.slot_time = kSlotTime;
  leaving.leaving = true;
  CHECK(at.shares.heard(2, leaving, at.now));
  at.hand_out();
  CHECK(at.work(1) == Ranges{{6, 8}});
  at.beat(1, {{0, 4}, {6, 8}});
  at.hand_out();
  CHECK(at.shares.backups() == 0);
  CHECK(at.work(1) == Ranges{{6, 8}});
}

TEST_CASE("who leaves has no standing range, however few others there are, and whether they have brought anything") {
  SharesFixture at(8, {1, 2});
  at.establish({1});
  SlotProgress leaving;
  leaving.leaving = true;
  at.shares.heard(1, leaving, at.now);
  at.unpaying = {2};
  at.arrive({});
  at.hand_out();  // the one that stays is suspected
  at.shares.divide(at.sessions, 1);
  CHECK(at.shares.standing(1, 9).slots.empty());
  CHECK(at.shares.standing(2, 9).slots == SlotRange{0, 8});
  at.shares.heard(2, leaving, at.now);
  at.shares.divide(at.sessions, 1);
  CHECK(at.shares.standing(1, 9).slots.empty());
  CHECK(at.shares.standing(2, 9).slots.empty());
  at.sessions.push_back(3);
  at.shares.divide(at.sessions, 1);
  CHECK(at.shares.standing(3, 9).slots == SlotRange{0, 8});
}

TEST_CASE("what a session had all receipts for when it left is waited for a while, and given out if it does not come") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 4}});
  SlotProgress leaving;
  leaving.computed = {{4, 8}};
  leaving.begun = 1;
  leaving.slot_time = kSlotTime;
  leaving.leaving = true;
  at.shares.heard(2, leaving, at.now);
  auto brings_it_not = at;
  brings_it_not.shares.heard(
      2,
      [&] {
        auto more = leaving;
        more.without_receipt = 9;
        return more;
      }(),
      at.now);
  brings_it_not.lose(2);
  brings_it_not.hand_out();
  CHECK(brings_it_not.work(1) == Ranges{{4, 8}});
  at.lose(2);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{0, 4}});
  at.now += SlotShares::Floors{}.late_share;
  at.hand_out();
  CHECK(at.work(1) == Ranges{{4, 8}});
}

TEST_CASE("who comes with orders from before is told of its share, whatever it is, until it has begun the step") {
  SharesFixture at(8, {1, 2});
  at.sessions = {1, 2, 3};
  CHECK_FALSE(at.shares.now(3).has_value());
  at.shares.has_orders(3);  // they may give it something of step 0 that nobody knows of
  REQUIRE(at.shares.now(3).has_value());
  CHECK(at.shares.now(3)->ranges.empty());
  at.establish({1, 2, 3});
  at.shares.divide(at.sessions, 1);
  const auto range = at.shares.standing(3, 9).slots;
  REQUIRE_FALSE(range.empty());
  at.open_step(1);
  REQUIRE(at.shares.now(3).has_value());  // else it may wait for an order that says what comes after step 0
  CHECK(at.shares.now(3)->step == 1);
  CHECK(at.shares.now(3)->ranges == Ranges{range});
  SlotProgress next;
  next.step = 2;
  next.begun = 1;
  at.shares.heard(3, next, at.now);
  at.open_step(2);
  CHECK_FALSE(at.shares.now(3).has_value());
}

TEST_CASE("the lag of a session counts from when it was given something, not from a step's opening before that") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {}, 0);
  at.sessions = {1, 2, 3};
  at.now += 30 * kSlotTime;
  at.beat(1, {{0, 3}}, 3);
  at.beat(2, {}, 4);
  at.hand_out();
  REQUIRE_FALSE(at.work(3).empty());
  at.now += 700;
  SlotProgress progress;
  progress.in_hand = at.work(3).front().begin;
  progress.in_hand_for = 200;
  progress.begun = 200;
  at.shares.heard(3, progress, at.now);
  REQUIRE(at.shares.session(3) != nullptr);
  CHECK(at.shares.session(3)->lag() == 500);
}

// ---- rollback, copies of all of it

TEST_CASE("when the job goes back, what was given out and observed is forgotten") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 4}});
  at.lose(2);
  at.hand_out();
  CHECK_FALSE(at.work(1).empty());
  at.shares.rewind();
  CHECK_FALSE(at.shares.now(1).has_value());
  CHECK_FALSE(at.shares.observed());
  CHECK(at.shares.standing(1, 9) == Standing{});
  at.shares.divide({1}, 0);
  at.open_step(0);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{0, 8}});
  CHECK_FALSE(at.shares.now(1).has_value());
  CHECK(at.shares.held_up(1).empty());
}

TEST_CASE("shares that are copied go their own way") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 4}});
  auto copy = at;
  CHECK(differences(at.shares, copy.shares) == Differences{});
  copy.lose(2);
  copy.hand_out();
  CHECK_FALSE(copy.work(1) == Ranges{{0, 4}});
  CHECK(at.work(1) == Ranges{{0, 4}});
  CHECK(at.work(2) == Ranges{{4, 8}});
}
