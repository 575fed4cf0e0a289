// Sessions that are not counted on.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/protocol/lead/shares_fixture.h"

using namespace ballast;
using namespace ballast::slot_shares;

// ---- suspicion

TEST_CASE("what a silent session has not brought goes to the others as they fall idle, its last slots first") {
  SharesFixture at(12, {1, 2, 3});
  at.beat(1, {{0, 1}}, 1);
  at.arrive({{0, 1}});
  at.beat(2, {{4, 8}});
  at.beat(3, {}, 8);
  at.silent = {1};
  at.hand_out();
  CHECK(at.work(2) == Ranges{{2, 4}});  // half of three: two counted sessions share them
  CHECK(at.work(1) == Ranges{{0, 2}});  // what is left to it
  at.beat(2, {{2, 4}, {4, 8}});
  at.hand_out();
  CHECK(at.work(2).back() == SlotRange{1, 2});
  CHECK(at.shares.reassigned() == 3);
  CHECK(at.shares.held_up(1) == "it is silent");
}

TEST_CASE("where work is given up for want of buffers, the slot that a lane wants next is handed out first") {
  for (const bool gives_up : {false, true}) {
    CAPTURE(gives_up);
    SharesFixture at(12, {1, 2, 3});
    at.beat(2, {{4, 8}});
    at.beat(3, {}, 8);
    at.want(0);
    at.silent = {1};
    at.hand_out();
    REQUIRE(at.work(2) == Ranges{{2, 4}});
    at.beat(2, {{2, 4}, {4, gives_up ? 7U : 8U}});
    at.hand_out();
    CHECK(at.work(2).back() == (gives_up ? SlotRange{0, 1} : SlotRange{1, 2}));
  }
}

TEST_CASE("who has brought nothing and gives up work for want of buffers has the slot that a lane wants next, too") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({1});
  at.beat(1, {}, 0, 50 * kSlotTime);
  at.beat(2, {{4, 8}});
  at.beat(3, {}, 8);
  at.want(0);
  at.hand_out();
  REQUIRE(at.shares.held_up(1) != "");
  REQUIRE(at.work(2) == Ranges{{2, 4}});
  at.beat(2, {{2, 4}, {4, 7}});
  at.hand_out();
  CHECK(at.work(2).back() == SlotRange{0, 1});
}

TEST_CASE(
    "who gives up work for want of buffers, and so never has nothing left, computes next what a lane wants next") {
  for (const bool gives_up : {false, true}) {
    CAPTURE(gives_up);
    SharesFixture at(12, {1, 2, 3});
    at.beat(2, {{4, 6}}, 6);
    at.beat(3, {{8, 9}}, 9);
    at.want(0);
    at.silent = {1};
    at.hand_out();
    REQUIRE(at.work(2) == Ranges{{4, 8}});
    at.beat(2, {{gives_up ? 5U : 4U, 7}}, 7);
    at.hand_out();
    CHECK(at.work(2) == (gives_up ? Ranges{{0, 1}, {4, 8}} : Ranges{{4, 8}}));
    CHECK(at.work(1).front().begin == (gives_up ? 1 : 0));
    at.beat(3, {{9, 10}}, 10);
    at.hand_out();
    CHECK(at.work(3) == (gives_up ? Ranges{{8, 12}} : Ranges{{0, 1}, {8, 12}}));  // one alone has it
  }
}

TEST_CASE("where all are suspected who gives up work has its turn at what a lane wants next, whoever has it") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({1, 2, 3});
  const auto go_on = [&](SessionId session, Slot first) {  // it computes four slots in turns
    at.beat(session, {{first, first + 2}}, first + 2, 50 * kSlotTime);
    at.beat(session, {{first + 1, first + 3}}, first + 3, 50 * kSlotTime);
  };
  at.want(0);
  at.beat(1, {}, 0, 50 * kSlotTime);  // it hangs at that
  go_on(2, 4);
  go_on(3, 8);
  at.hand_out();
  CHECK(at.work(2) == Ranges{{0, 1}, {4, 8}});
  CHECK(at.work(3) == Ranges{{8, 12}});
  at.hand_out();
  CHECK(at.work(2) == Ranges{{0, 1}, {4, 8}});  // for a while
  at.now += 3 * kSlotTime + 250'000;
  go_on(2, 4);
  go_on(3, 8);
  at.hand_out();
  CHECK(at.work(3) == Ranges{{0, 1}, {8, 12}});
  CHECK(at.work(2) == Ranges{{4, 8}});
  at.want(1);
  at.hand_out();
  CHECK(at.work(2) == Ranges{{1, 2}, {4, 8}});
}

TEST_CASE(
    "who has nothing left is in nobody's way to what a lane wants next, where it sends nothing of what it has "
    "computed") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({1, 2, 3});
  at.unpaying = at.out_of_standing = {1};
  at.want(0);
  at.beat(1, {{0, 4}});
  for (const SessionId session : {2U, 3U}) {  // they compute in turns, and are late
    const Slot first = 4 * (session - 1);
    at.beat(session, {{first, first + 2}}, first + 2, 50 * kSlotTime);
    at.beat(session, {{first + 1, first + 3}}, first + 3, 50 * kSlotTime);
  }
  at.hand_out();
  CHECK(at.work(2) == Ranges{{0, 1}, {4, 8}});
}

TEST_CASE("a suspect that was given what a lane wants next keeps it for its turn, whoever has nothing left") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({1, 2, 3});
  at.lose(1);
  at.unpaying = at.out_of_standing = {3};
  at.want(0);
  at.beat(3, {{8, 12}});
  at.beat(2, {{4, 6}}, 6, 50 * kSlotTime);
  at.beat(2, {{5, 7}}, 7, 50 * kSlotTime);
  at.hand_out();
  REQUIRE(at.work(2) == Ranges{{0, 1}});
  REQUIRE(at.work(3) == Ranges{{1, 8}});
  at.beat(2, {{5, 7}}, 0, 50 * kSlotTime);
  at.beat(3, {{1, 12}});
  at.hand_out();
  CHECK(at.work(2) == Ranges{{0, 1}});
  CHECK(at.work(3) == Ranges{{1, 8}});
}

TEST_CASE("what was given up in one step changes nothing in the next") {
  SharesFixture at(12, {1, 2, 3});
  at.beat(2, {{4, 8}});
  at.beat(2, {{4, 7}});
  at.open_step(1);
  at.beat(2, {{4, 8}});
  at.beat(3, {{8, 11}}, 11);
  at.want(0);
  at.silent = {1};
  at.hand_out();
  CHECK(at.work(2) == Ranges{{2, 4}});
}

TEST_CASE("time in which the lead did not run makes nobody late, and tells of no session how late it begins") {
  constexpr Micros kSlept = 20 * kNothingKnown;
  SharesFixture at(8, {1, 2});
  at.now += kSlept;
  at.shares.forgive(kSlept);
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  SlotProgress progress;
  progress.in_hand = 0;
  progress.begun = 1;  // it is read when the lead runs again
  progress.slot_time = kSlotTime;
  at.shares.heard(1, progress, at.now);
  CHECK(at.shares.session(1)->lag() == 0);
  at.shares.heard(3, progress, at.now);  // it was given nothing of the step by this lead, which knew nothing of it
  CHECK(at.shares.session(3)->lag() == 0);
  at.open_step(1);
  at.now += 500;
  progress.step = 1;
  at.shares.heard(1, progress, at.now);
  CHECK(at.shares.session(1)->lag() == 499);
}

TEST_CASE("a suspect that is heard of is counted on again, and keeps what is left of its share") {
  SharesFixture at(12, {1, 2, 3});
  at.beat(2, {{4, 8}});
  at.beat(3, {}, 8);
  at.silent = {1};
  at.hand_out();
  CHECK(at.work(2) == Ranges{{2, 4}});
  at.silent.clear();
  at.beat(1, {}, 0);
  at.beat(2, {{2, 8}});
  at.arrive({{2, 8}});
  at.shares.take_changed();
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  CHECK(at.work(1).front().begin == 0);
  CHECK(at.shares.reassigned() == 2);
}

TEST_CASE("a session of which nothing can be predicted is late after its time, and not before") {
  SharesFixture at(4, {1, 2});
  at.arrive({{2, 4}});
  at.now += kNothingKnown;
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  CHECK(at.shares.take_changed().empty());
  at.now += 1;
  at.hand_out();
  CHECK(at.shares.held_up(1) == "it brings nothing of its share of step 0");
  CHECK(at.work(2) == Ranges{{0, 2}});
  CHECK(at.work(1).empty());
  CHECK(at.shares.held_up(2).empty());
}

TEST_CASE("what others show in the first step holds for a share of which nothing could be predicted") {
  SharesFixture at(2, {1, 2});
  at.beat(1, {}, 0, 0, 0);
  at.beat(2, {{1, 2}});
  at.arrive({{1, 2}});
  at.hand_out();
  const auto limit = 3 * kSlotTime + SlotShares::Floors{}.late_share;
  REQUIRE(limit < kNothingKnown);
  at.now += limit;
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  at.now += 1;
  at.hand_out();
  CHECK_FALSE(at.shares.held_up(1).empty());
  CHECK(at.work(2) == Ranges{{0, 1}});
}

TEST_CASE("a session is late when its slot takes longer than three of its slots and the floor, and not before") {
  SharesFixture at(4, {1, 2});
  at.beat(1, {{0, 1}}, 1);
  at.beat(2, {{2, 4}});
  at.arrive({{2, 4}});
  const auto limit = 3 * kSlotTime + SlotShares::Floors{}.late_slot;
  at.now += limit;
  at.beat(1, {{0, 1}}, 1, limit);
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  at.now += 1'000;
  at.beat(1, {{0, 1}}, 1, limit + 1'000);
  at.hand_out();
  CHECK(at.shares.held_up(1) == "slot 1 of step 0 takes 321 ms, one of its slots 100 ms");
  CHECK(at.work(2).back() == SlotRange{0, 2});
}

TEST_CASE("a late session is counted on again when it gets on, for three times what is predicted then") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 1}}, 1);
  at.beat(2, {{4, 8}});
  at.arrive({{4, 8}});
  at.now += 10 * kSlotTime;
  at.beat(1, {{0, 1}}, 1, 10 * kSlotTime);
  at.hand_out();
  CHECK_FALSE(at.shares.held_up(1).empty());
  at.now += 20 * kSlotTime;
  CHECK(at.beat(1, {{0, 2}}, 2));
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
}

TEST_CASE("a late session whose share others have got takes nothing from them until it gets on, or the step ends") {
  SharesFixture at(4, {1, 2});
  at.establish({1, 2});
  at.beat(1, {{0, 2}}, kNoSlot, 0, 4 * kSlotTime);
  at.arrive({{0, 2}});
  at.hand_out();
  at.now += 3 * 2 * 4 * kSlotTime + SlotShares::Floors{}.late_share + 1;
  at.hand_out();
  REQUIRE(set_of_slots(4, at.work(1)) == set_of_slots(4, {{2, 4}}));
  at.shares.take_changed();
  at.beat(1, {{0, 2}}, 2, 0, 4 * kSlotTime);
  at.hand_out();
  CHECK(at.shares.take_changed().empty());
  CHECK_FALSE(at.shares.held_up(2).empty());
  auto gets_on = at;
  gets_on.beat(2, {}, 3, 0, 1'000);
  gets_on.hand_out();
  CHECK(gets_on.shares.held_up(2).empty());
  at.open_step(1);
  at.shares.divide(at.sessions, 2);
  at.open_step(2);
  at.hand_out();
  CHECK(at.shares.held_up(2).empty());
}

TEST_CASE("a session that does not share its slots out by redistribution is late by time alone") {
  SlotShares::Rules rigid;
  rigid.redistributes = false;
  SharesFixture at(4, {1, 2}, rigid);
  at.beat(1, {}, 0);
  at.beat(2, {{2, 4}});
  at.arrive({{2, 4}});
  at.silent = {1};
  at.now += kNothingKnown;
  at.beat(1, {}, 0, kNothingKnown);
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  CHECK(at.shares.take_changed().empty());
  at.lose(1);
  at.hand_out();
  CHECK(at.work(2) == Ranges{{0, 2}});
}

TEST_CASE("nobody is late for the time in which no work was given out") {
  SharesFixture at(4, {1, 2});
  at.now += 50 * kNothingKnown;
  at.shares.reopen(at.now);
  at.now += 10;
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  CHECK(at.shares.take_changed().empty());
}

TEST_CASE("where all are suspected all are counted on: nothing waits for nobody") {
  SharesFixture at(4, {1, 2});
  at.lose(2);
  at.sessions = {1, 3};
  at.silent = {1, 3};
  at.hand_out();
  CHECK(at.work(3) == Ranges{{3, 4}});  // half of what session 2 had
}

// All of them were late with what another brought, who is lost with the last slot.
TEST_CASE("where all are suspected each has its turn at what nobody brings, also who is slower than the others") {
  constexpr SessionId kLost = 5;
  constexpr Micros kLate = 100 * kNothingKnown;
  SharesFixture at(4, {1, 2, 3});
  const auto all_live = [&] {
    at.beat(1, {});
    at.beat(2, {});
    at.beat(3, {}, kNoSlot, 0, 20 * kSlotTime);
  };
  all_live();
  at.hand_out();
  at.now += kLate;
  at.hand_out();
  at.sessions = {1, 2, 3, kLost};
  for (int i = 0; i < 4; ++i) {
    at.beat(kLost, at.work(kLost));
    at.hand_out();
  }
  at.beat(kLost, at.work(kLost));
  REQUIRE(set_of_slots(4, at.work(kLost)).count() == 4);
  at.arrive({{0, 3}});
  at.lose(kLost);
  std::set<SessionId> had_it;
  for (int i = 0; i < 12; ++i) {
    at.now += kLate;
    all_live();
    at.hand_out();
    for (const auto session : at.sessions) {
      if (set_of_slots(4, at.work(session)).contains(3)) {
        had_it.insert(session);
      }
    }
  }
  CHECK(had_it == std::set<SessionId>{1, 2, 3});
}

TEST_CASE("whoever is called nothing and gives up what it computes is late in the end, and who is called is not") {
  for (const bool is_out : {true, false}) {
    CAPTURE(is_out);
    SharesFixture at(8, {1, 3});
    at.establish({1});
    at.lose(3);
    at.beat(1, {{0, 4}});
    at.hand_out();
    REQUIRE(at.work(1) == Ranges{{4, 8}});
    at.sessions = {1, 2};
    if (is_out) {
      at.out_of_standing = {1};
    }
    at.want(0);
    bool is_with_another = false;
    for (Slot i = 0; i < 100 && !is_with_another; ++i) {  // it has room for all but one of them
      at.now += kSlotTime;
      const Slot given_up = (i + 1) % 4;
      auto computed = SlotSet::full(8);
      computed.erase({given_up, given_up + 1});
      at.beat(1, computed.runs());
      at.beat(2, at.work(2));  // its trial
      at.hand_out();
      for (const auto range : at.work(2)) {
        is_with_another = is_with_another || range.begin == 0;
      }
    }
    CHECK(is_with_another == is_out);
  }
}

// ---- misses and trials

namespace {

// Two sessions of which the first alone brings anything, in steps of its own slots.
void miss_step(SharesFixture& at, Step next) {
  at.beat(1, {{0, 2}});
  at.arrive({{0, 2}});
  at.now += 20 * kNothingKnown;
  at.hand_out();
  at.open_step(next);
}

}  // namespace

TEST_CASE("after three missed predictions in a row a session keeps no share, and one that brings something does") {
  SlotShares::Rules even;
  even.by_speed = false;
  SharesFixture at(4, {1, 2}, even);
  at.establish({1, 2});
  at.open_step(1);
  for (Step step = 1; step < 4; ++step) {
    CHECK(at.shares.held_up(2).find("in a row") == std::string::npos);
    miss_step(at, step + 1);
  }
  at.hand_out();
  auto brings = at;
  brings.beat(2, {{2, 3}}, 3);
  brings.open_step(5);
  brings.shares.divide(brings.sessions, 6);
  CHECK(brings.shares.standing(2, 9).slots.empty());  // by its own word alone
  brings.bring({2});
  brings.hand_out();
  CHECK(brings.shares.held_up(2).empty());
  brings.shares.divide(brings.sessions, 6);
  CHECK(brings.shares.standing(2, 9).slots == SlotRange{2, 4});
  at.shares.divide(at.sessions, 6);
  CHECK(at.shares.standing(1, 9).slots == SlotRange{0, 4});
  CHECK(at.shares.standing(2, 9).slots.empty());
  at.open_step(6);
  at.hand_out();
  CHECK(at.shares.held_up(2) == "it brought nothing of its share of 3 steps in a row");
}

TEST_CASE("a session that brought something late has not missed, though it is heard of at the next step first") {
  SlotShares::Rules even;
  even.by_speed = false;
  SharesFixture at(4, {1, 2}, even);
  at.bring({1, 2});
  at.open_step(1);
  for (Step step = 1; step < 5; ++step) {
    at.beat(1, {{0, 2}});
    at.arrive({{0, 2}});
    at.now += 20 * kNothingKnown;
    at.hand_out();
    at.beat(2, {{2, 4}});
    // It begins the next step before the shards' reports say that this one is over.
    SlotProgress ahead;
    ahead.step = step + 1;
    ahead.in_hand = 2;
    ahead.begun = 1;
    ahead.slot_time = kSlotTime;
    at.shares.heard(2, ahead, at.now);
    at.bring({1, 2});
    at.open_step(step + 1);
  }
  at.shares.divide(at.sessions, 6);
  CHECK(at.shares.standing(2, 9).slots == SlotRange{2, 4});
}

TEST_CASE(
    "who brings of each step only the chunk that is counted keeps its share, and is waited for until it is late") {
  constexpr Step kSteps = 12;
  for (const bool is_counted : {true, false}) {
    CAPTURE(is_counted);
    SharesFixture at(4, {1, 2});
    at.establish({1, 2});
    at.beat(1, {{0, 2}});
    at.beat(2, {{2, 4}});
    Step waited = 0;
    for (Step step = 1; step <= kSteps; ++step) {
      at.open_step(step);
      at.beat(1, {}, 0);
      at.beat(2, {}, 2);  // by its own word it gets on, and has computed them all
      at.beat(2, {{2, 4}});
      at.now += 2 * kSlotTime;
      at.beat(1, {{0, 2}});
      at.arrive({{0, 2}});
      at.hand_out();
      if (set_of_slots(4, at.work(1)) == set_of_slots(4, {{0, 2}})) {
        ++waited;
        at.now = at.opened + 3 * 2 * kSlotTime + SlotShares::Floors{}.late_share;
        at.hand_out();
        REQUIRE(at.shares.held_up(2).empty());
        at.now += 1;
        at.hand_out();
        REQUIRE(at.shares.held_up(2) == "it brings nothing of its share of step " + std::to_string(step));
        REQUIRE(at.work(1) == Ranges{{2, 4}});
      }
      at.beat(1, {{0, 4}});
      at.bring(is_counted ? Sessions{1, 2} : Sessions{1});
    }
    CHECK(waited == (is_counted ? kSteps : Suspicion::kMostCredit));
  }
}

TEST_CASE("where those with credit are suspected, one that does not begin its trial is not waited for") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({2, 3});
  at.beat(1, {{0, 4}});
  at.beat(2, {{4, 8}});
  at.beat(3, {{8, 12}});
  at.hand_out();
  at.open_step(1);
  REQUIRE(at.work(2) == Ranges{{0, 6}});
  at.beat(3, {{6, 12}});
  at.arrive({{6, 12}});
  at.now += 100 * kSlotTime;
  at.hand_out();  // the second does not begin; the third has its share, and hangs there
  REQUIRE(at.work(3) == Ranges{{0, 6}});
  REQUIRE(at.work(2).empty());
  REQUIRE(at.work(1) == Ranges{{5, 6}});
  at.beat(3, {{6, 12}}, 0, 50 * kSlotTime);
  at.beat(1, {});
  for (int i = 0; i < 4; ++i) {
    at.now += 100 * kSlotTime;
    at.hand_out();
  }
  CHECK_FALSE(at.work(2).empty());
}

TEST_CASE("where nobody keeps a share all get one") {
  SharesFixture at(4, {1, 2});
  at.silent = {1, 2};
  at.hand_out();
  at.shares.divide(at.sessions, 1);
  CHECK(at.shares.standing(1, 9).slots == SlotRange{0, 2});
  CHECK(at.shares.standing(2, 9).slots == SlotRange{2, 4});
}

TEST_CASE("a session without slots gets the last one as a trial, every sixteen steps, and nobody waits for it") {
  SharesFixture at(4, {1, 2});
  at.beat(1, {}, 0);
  at.beat(2, {}, 2, 0, 100 * kSlotTime);
  at.shares.divide(at.sessions, 1);
  REQUIRE(at.shares.standing(2, 9).slots.empty());
  std::vector<Step> trials;
  for (Step step = 1; step < 50; ++step) {
    at.now += 4 * kSlotTime;
    at.open_step(step);
    at.beat(1, {}, 0);
    at.hand_out();
    if (at.work(2) == Ranges{{3, 4}}) {
      trials.push_back(step);
      CHECK(at.work(1) == Ranges{{0, 4}});
      CHECK(at.shares.held_up(2).empty());
      at.shares.take_changed();
      at.beat(2, {}, 3, 0, 100 * kSlotTime);
      at.hand_out();
      CHECK_FALSE(at.shares.take_changed().contains(2));  // one a step
    } else {
      CHECK(at.work(2).empty());
    }
  }
  CHECK(trials == std::vector<Step>{15, 31, 47});
}

TEST_CASE("a session without slots that can take some gets those, and no trial") {
  SharesFixture at(4, {1, 2, 3});
  at.beat(1, {}, 0);
  at.beat(2, {}, 2, 0, 100 * kSlotTime);
  at.beat(3, {}, 3, 0, 100 * kSlotTime);
  at.shares.divide(at.sessions, 14);
  REQUIRE(at.shares.standing(2, 99).slots.empty());
  REQUIRE(at.shares.standing(3, 99).slots.empty());
  at.open_step(15);  // in which the second one's turn comes
  at.lose(1);
  at.beat(2, {});
  at.beat(3, {});
  at.hand_out();
  CHECK(at.shares.trials() == 0);
  CHECK(at.work(2) == Ranges{{2, 4}});
  CHECK(at.work(3) == Ranges{{1, 2}});
}

TEST_CASE("a suspect, and a session where nobody has nothing left, get their trials") {
  SharesFixture at(4, {1, 2});
  at.beat(1, {}, 0);
  at.beat(2, {}, 2, 0, 100 * kSlotTime);
  at.shares.divide(at.sessions, 14);
  at.open_step(15);
  at.silent = {2};
  at.beat(1, {}, 0);
  at.hand_out();
  CHECK(at.shares.trials() == 1);
  CHECK(at.work(2) == Ranges{{3, 4}});
  CHECK(at.work(1) == Ranges{{0, 4}});
}

// ---- sessions that send nothing of what lanes call

TEST_CASE("the share of a session that sends nothing goes to the others, and the next division leaves it out") {
  SharesFixture at(12, {1, 2, 3});
  at.unpaying = at.out_of_standing = {1};
  at.beat(1, {{0, 4}});
  at.beat(2, {{4, 8}});
  at.beat(3, {}, 8);
  at.arrive({{4, 8}});
  at.hand_out();
  CHECK(at.shares.held_up(1) == "it sends nothing of what lanes call: that was taken back twice");
  CHECK(at.work(2) == Ranges{{2, 4}});  // though it has computed all of its share
  CHECK(at.shares.standing(1, kNoLimit).slots.empty());
  CHECK(at.shares.standing(2, kNoLimit).slots.size() == 6);
}

TEST_CASE(
    "a session that sends nothing loses its credit, and has a share again when it has sent and brought something") {
  SharesFixture at(12, {1, 2});
  at.establish({1, 2});
  at.unpaying = at.out_of_standing = {1};
  at.beat(1, {}, 0);
  at.beat(2, {{6, 12}});
  at.arrive({{6, 12}});
  at.hand_out();
  CHECK(at.work(1) == Ranges{{5, 6}});  // of what was its own
  for (Step step = 1; step <= 3; ++step) {
    at.open_step(step);
    at.hand_out();
    CHECK(at.work(1) == Ranges{{11, 12}});
    CHECK(at.work(2) == Ranges{{0, 12}});
  }
  CHECK(at.shares.trials() == 4);
  at.unpaying.clear();
  at.arrive({{11, 12}});
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  at.shares.divide(at.sessions, 5);
  CHECK(at.shares.standing(1, 9).slots.empty());
  at.bring({1});
  at.shares.divide(at.sessions, 5);
  CHECK_FALSE(at.shares.standing(1, 9).slots.empty());
}

TEST_CASE("if all send nothing, all are counted on") {
  SharesFixture at(4, {1, 2});
  at.unpaying = at.out_of_standing = {1, 2};
  at.beat(1, {{0, 1}}, 1);
  at.beat(2, {{2, 4}});
  at.arrive({{2, 4}});
  at.hand_out();
  at.open_step(1);
  at.hand_out();
  CHECK_FALSE(at.work(1).empty());
  CHECK_FALSE(at.work(2).empty());
}

TEST_CASE("without redistribution nobody is suspected for what lanes say") {
  SlotShares::Rules rules;
  rules.redistributes = false;
  SharesFixture at(4, {1, 2}, rules);
  at.unpaying = at.out_of_standing = {1};
  at.beat(2, {{2, 4}});
  at.arrive({{2, 4}});
  at.hand_out();
  CHECK(at.shares.held_up(1).empty());
  CHECK(at.work(2).empty() == false);
  CHECK(at.work(2) == Ranges{{2, 4}});
}

TEST_CASE("what a lost session had goes to those in good standing at every lane, also if they are still at work") {
  SharesFixture at(12, {1, 2, 3});
  at.out_of_standing = {2};
  at.beat(1, {}, 0);
  at.beat(2, {{4, 8}});
  at.beat(3, {{8, 9}}, 9);
  at.lose(1);
  at.arrive({{4, 8}});
  at.hand_out();
  CHECK(at.work(2) == Ranges{{4, 8}});  // nothing for now
  at.beat(3, {{8, 12}});
  at.hand_out();
  CHECK(at.work(3).front().end == 4);
  CHECK(at.work(2) == Ranges{{4, 8}});
}

TEST_CASE("what a lost session had goes to one that is out of good standing, if nobody in good standing will take it") {
  SharesFixture at(12, {1, 2, 3});
  at.out_of_standing = {2, 3};
  at.beat(1, {}, 0);
  at.beat(2, {{4, 8}});
  at.beat(3, {{8, 9}}, 9);
  at.lose(1);
  at.arrive({{4, 8}});
  at.hand_out();
  CHECK(at.work(2).front().end == 4);
}

TEST_CASE("one in good standing that hangs at what another has brought is not waited for") {
  SharesFixture at(12, {1, 2, 3});
  at.out_of_standing = {2};
  at.beat(1, {}, 0);
  at.beat(2, {{4, 8}});
  at.beat(3, {{8, 11}}, 11);
  at.lose(1);
  at.arrive({{4, 8}, {8, 12}});
  at.hand_out();
  CHECK(at.work(2).front().end == 4);
}

TEST_CASE("where the only one with credit hangs at what another has brought, others take what nobody has") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({2});
  at.beat(1, {}, 0);
  at.beat(2, {{4, 7}}, 7, 50 * kSlotTime);
  at.beat(3, {{8, 12}});
  at.lose(1);
  at.arrive({{4, 12}});
  at.hand_out();  // nobody that is counted on will take it
  at.hand_out();
  CHECK(at.work(3).front() == SlotRange{0, 4});
  // It stays late until it gets on: else it would be counted on again, and what it does not take be given anew.
  at.beat(3, {{8, 12}}, 0);
  at.shares.take_changed();
  for (int i = 0; i < 5; ++i) {
    at.hand_out();
    CHECK(at.shares.held_up(2) != "");
  }
  CHECK(at.shares.take_changed().empty());
  CHECK(at.shares.returned() == 0);
  at.beat(2, {{4, 8}});
  at.hand_out();
  CHECK(at.shares.held_up(2) == "");
  CHECK(at.shares.returned() == 1);
}

TEST_CASE(
    "who hangs at what another has brought is not late as long as others are at work, who will take what is left") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({1, 2, 3});
  at.beat(1, {}, 0);
  at.beat(2, {{4, 6}}, 6, 50 * kSlotTime);
  at.beat(3, {{8, 11}}, 11);
  at.lose(1);
  at.arrive({{4, 11}});
  for (int i = 0; i < 3; ++i) {
    at.hand_out();
    CHECK(at.shares.held_up(2) == "");
  }
  at.beat(3, {{8, 12}});
  at.hand_out();
  CHECK(at.work(3).front().end == 4);
  CHECK(at.shares.held_up(2) == "");
}

TEST_CASE("beside those with credit who has brought nothing and hangs at what another has brought is in nobody's way") {
  SharesFixture at(12, {1, 2, 3});
  at.establish({1, 3});
  at.beat(1, {}, 0);
  at.beat(2, {}, 4, 50 * kSlotTime);
  at.beat(3, {{8, 11}}, 11);
  at.lose(1);
  at.arrive({{4, 12}});
  at.hand_out();
  at.hand_out();
  CHECK(at.shares.held_up(2) == "");
  CHECK(at.shares.held_up(3) == "");
}

TEST_CASE("where all with credit are suspected, one that hangs at what another has brought is not waited for either") {
  SharesFixture at(12, {1, 2, 3, 4});
  at.establish({1, 3});
  at.beat(1, {}, 0);
  at.beat(2, {}, 3, 50 * kSlotTime);
  at.beat(3, {{6, 8}}, 8, 50 * kSlotTime);
  at.beat(4, {{9, 12}});
  at.lose(1);
  at.unpaying = {4};
  at.arrive({{3, 12}});
  for (int i = 0; i < 4; ++i) {
    at.hand_out();
  }
  CHECK(at.work(4).back().end <= 3);
}

TEST_CASE("who was late before another brought its slot is counted on again where nothing is left over") {
  SharesFixture at(12, {1, 2});
  at.establish({1, 2});
  at.beat(1, {}, 0);
  at.beat(2, {{6, 11}}, 11, 50 * kSlotTime);
  at.arrive({{6, 11}});
  at.hand_out();
  REQUIRE(at.shares.held_up(2) != "");
  at.arrive({{11, 12}});
  at.hand_out();
  CHECK(at.shares.held_up(2) == "");
}

TEST_CASE("who hangs at what another has brought is not late where nothing is left for others to take") {
  SharesFixture at(12, {1, 2});
  at.establish({1, 2});
  at.beat(1, {}, 0);
  at.beat(2, {{6, 8}}, 8, 50 * kSlotTime);
  at.arrive({{6, 12}});
  at.hand_out();
  at.hand_out();
  CHECK(at.shares.held_up(2) == "");
}
