// Sessions that have brought nothing yet: nobody waits for them, and a slot shows what they can do.
#include <doctest/doctest.h>

#include "protocol/lead/slot_shares.h"
#include "tests/unit/protocol/lead/shares_fixture.h"

using namespace ballast;
using namespace ballast::slot_shares;

namespace {

// Two sessions have brought something, in a step that is over; others come to the one that is open, of eight slots.
struct TrialsFixture : SharesFixture {
  explicit TrialsFixture(const Sessions& newcomers, SlotShares::Rules rules = {}) : SharesFixture(8, {1, 2}, rules) {
    establish({1, 2});
    beat(1, {{0, 4}});
    beat(2, {{4, 8}});
    arrive({{0, 8}});
    open_step(1);
    beat(1, {}, 0);
    beat(2, {}, 4);
    sessions.insert(sessions.end(), newcomers.begin(), newcomers.end());
    shares.divide(sessions, 2);
  }
};

}  // namespace

TEST_CASE("who has brought nothing gets no standing range, and changes nobody else's") {
  TrialsFixture at({3, 4, 5});
  const auto generation = at.shares.generation();
  CHECK(at.shares.standing(1, 9).slots == SlotRange{0, 4});
  CHECK(at.shares.standing(2, 9).slots == SlotRange{4, 8});
  CHECK(at.shares.standing(3, 9).slots.empty());
  at.lose(4);
  at.shares.divide(at.sessions, 2);
  CHECK(at.shares.generation() == generation);  // nobody is told anything
}

TEST_CASE("each of those who have brought nothing is tried with a slot of its own, of those that would come last") {
  TrialsFixture at({3, 4, 5});
  at.hand_out();
  CHECK(at.work(3) == Ranges{{7, 8}});
  CHECK(at.work(4) == Ranges{{3, 4}});
  CHECK(at.work(5) == Ranges{{6, 7}});
  CHECK(at.work(1) == Ranges{{0, 4}});  // their holders compute them as well
  CHECK(at.work(2) == Ranges{{4, 8}});
  CHECK(at.shares.trials() == 3);
  at.shares.take_changed();
  at.hand_out();
  CHECK(at.shares.take_changed().empty());  // one each in a step
}

TEST_CASE("a slot is tried by one in a step, and who has waited for one the longest is next") {
  TrialsFixture at({3, 4, 5, 6, 7, 8, 9, 10});
  at.hand_out();
  Sessions waiting;
  for (SessionId session = 3; session <= 10; ++session) {
    if (at.work(session).empty()) {
      waiting.push_back(session);
    }
  }
  CHECK(waiting == Sessions{9, 10});  // two of the eight slots are in hand
  at.open_step(2);
  at.beat(1, {}, 0);
  at.beat(2, {}, 4);
  at.hand_out();
  CHECK(at.work(9) == Ranges{{7, 8}});
  CHECK(at.work(10) == Ranges{{3, 4}});
}

TEST_CASE("nobody waits for a trial: whoever has nothing left takes what its holder leaves, or copies it") {
  TrialsFixture at({3});
  at.hand_out();
  REQUIRE(at.work(3) == Ranges{{7, 8}});
  at.beat(1, {{0, 4}});
  at.arrive({{0, 4}});
  at.now += 2 * kSlotTime;
  auto copies = at;
  at.beat(2, {{4, 6}}, 6, 0);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{7, 8}});  // its holder's tail
  copies.arrive({{4, 7}});
  copies.beat(2, {{4, 7}}, 7, kSlotTime, 4 * kSlotTime);
  copies.hand_out();
  CHECK(copies.work(1) == Ranges{{7, 8}});
  CHECK(copies.shares.backups() == 1);
}

TEST_CASE(
    "what is tried and arrives is its holder's no more, and whoever brought it has a range two steps later at most") {
  for (const bool by_speed : {true, false}) {
    CAPTURE(by_speed);
    SlotShares::Rules rules;
    rules.by_speed = by_speed;
    TrialsFixture at({3}, rules);
    at.hand_out();
    at.beat(3, {{7, 8}});
    at.arrive({{7, 8}});
    CHECK(at.work(2) == Ranges{{4, 7}});
    at.beat(1, {{0, 4}});
    at.beat(2, {{4, 7}});
    at.bring({1, 2, 3});
    at.arrive({{0, 7}});
    at.open_step(2);
    at.beat(1, {}, 0);
    at.beat(2, {}, 4);
    at.beat(3, {});
    at.hand_out();
    CHECK_FALSE(at.work(3).empty());  // a tail, as for anybody who has nothing left
    CHECK(at.shares.standing(3, 9).from == 3);
    CHECK_FALSE(at.shares.standing(3, 9).slots.empty());
  }
}

TEST_CASE("while all that have brought something are silent for a moment, nothing of theirs goes to others") {
  TrialsFixture at({3});
  at.beat(3, {});
  at.silent = {1, 2};
  at.hand_out();
  CHECK(at.work(3) == Ranges{{7, 8}});  // its trial
  CHECK(at.work(1) == Ranges{{0, 4}});
  CHECK(at.work(2) == Ranges{{4, 8}});
  at.shares.divide(at.sessions, 2);
  CHECK(at.shares.standing(3, 9).slots.empty());
  at.lose(1);
  at.lose(2);
  at.arrive({{7, 8}});
  at.beat(3, {{7, 8}});
  at.hand_out();
  CHECK(set_of_slots(8, at.work(3)) == set_of_slots(8, {{0, 7}}));
}

TEST_CASE("what a session says that has brought nothing moves nobody") {
  TrialsFixture at({3});
  SlotProgress ahead;
  ahead.step = 2;  // as if all slots of the step had arrived
  ahead.begun = 1;
  ahead.slot_time = 100 * kSlotTime;
  at.shares.heard(3, ahead, at.now);
  at.beat(1, {{0, 4}});
  at.arrive({{0, 4}});
  at.hand_out();
  CHECK(at.work(1) == Ranges{{6, 8}});  // a tail, at once
  at.open_step(2);
  SlotProgress leaving;
  leaving.step = 2;
  leaving.begun = 1;
  leaving.computed = {{0, 8}};
  leaving.leaving = true;
  at.shares.heard(3, leaving, at.now);
  at.beat(1, {}, 0);
  at.lose(2);
  at.beat(1, {{0, 4}});
  at.hand_out();
  CHECK(at.work(1) == Ranges{{4, 8}});
}

TEST_CASE("that a session gives work up which has brought nothing changes nobody's order") {
  for (const auto session : {SessionId{1}, SessionId{3}}) {
    CAPTURE(session);
    TrialsFixture at({3});
    at.beat(session, {{0, 1}, {7, 8}});
    at.beat(session, {{0, 1}});
    at.beat(1, {{0, 4}});
    at.arrive({{0, 4}});
    at.lose(2);
    at.want(4);
    at.hand_out();
    CHECK(at.work(1) == (session == 1 ? Ranges{{4, 5}} : Ranges{{4, 8}}));
  }
}

TEST_CASE(
    "who gives its work up in turns computes next what a lane wants, where nobody but one at a trial is counted on") {
  TrialsFixture at({3});
  at.hand_out();
  REQUIRE(at.work(3) == Ranges{{7, 8}});
  at.lose(2);
  at.want(4);
  at.beat(3, {}, 7, 50 * kSlotTime);  // it hangs
  at.beat(1, {{0, 2}}, 2, 50 * kSlotTime);
  at.beat(1, {{1, 3}}, 3, 50 * kSlotTime);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{4, 5}, {0, 4}});
}

TEST_CASE("who has brought nothing and says that it gives work up takes no turn from who is counted on") {
  for (const bool in_turns : {true, false}) {
    CAPTURE(in_turns);
    TrialsFixture at({3, 4});
    at.hand_out();
    at.lose(2);
    at.want(4);
    for (const SessionId liar : {3U, 4U}) {
      at.arrive(at.work(liar));  // its trial: it is at none any more
      at.beat(liar, {{0, 1}, {7, 8}});
      at.beat(liar, {{0, 1}});
    }
    at.want(4);
    at.beat(1, {{0, 2}}, 2);
    at.beat(1, {{in_turns ? 1U : 0U, 3}}, 3);
    at.hand_out();
    CHECK(at.work(1) == (in_turns ? Ranges{{4, 5}, {0, 3}} : Ranges{{0, 3}}));
    CHECK(at.work(3).empty());
    CHECK(at.work(4).empty());
  }
}

TEST_CASE("who has credit has what a lane wants, counted on or not, beside one that gives up work and sends nothing") {
  TrialsFixture at({3});
  at.hand_out();
  at.lose(2);
  at.arrive(at.work(3));  // its trial
  at.unpaying = at.out_of_standing = {3};
  at.beat(3, {{0, 1}, {5, 6}});
  at.beat(3, {{0, 1}});
  at.want(4);
  at.beat(1, {{0, 2}}, 2, 50 * kSlotTime);
  at.beat(1, {{1, 3}}, 3, 50 * kSlotTime);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{4, 5}, {0, 4}});
  CHECK(at.work(3).empty());
}

TEST_CASE("where nobody has brought anything all share, and those that did go on alone") {
  SharesFixture at(8, {1, 2, 3});
  CHECK_FALSE(at.shares.standing(3, 9).slots.empty());
  at.beat(1, {}, 0);
  at.beat(2, {}, 3);
  at.bring({1, 2});
  at.open_step(1);
  at.beat(1, {}, 0);
  at.hand_out();
  at.shares.divide(at.sessions, 2);
  CHECK(at.shares.standing(1, 9).slots == SlotRange{0, 4});
  CHECK(at.shares.standing(2, 9).slots == SlotRange{4, 8});
  CHECK(at.shares.standing(3, 9).slots.empty());
  at.lose(1);
  at.lose(2);
  at.shares.divide(at.sessions, 2);
  CHECK(at.shares.standing(3, 9).slots == SlotRange{0, 8});
}

TEST_CASE("a session that was lost and is back has credit for what it has brought since") {
  TrialsFixture at({});
  at.lose(2);
  at.open_step(2);
  at.sessions = {1, 2};
  at.beat(2, {});
  at.shares.divide(at.sessions, 3);
  CHECK(at.shares.standing(2, 9).slots.empty());
  at.bring({1});  // reports name all that they have counted
  at.shares.divide(at.sessions, 3);
  CHECK(at.shares.standing(2, 9).slots.empty());
  at.bring({1, 2});
  at.shares.divide(at.sessions, 3);
  CHECK_FALSE(at.shares.standing(2, 9).slots.empty());
}
