#include "protocol/lead/slot_moves.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/protocol/lead/shares_fixture.h"

using namespace ballast;
using namespace ballast::slot_shares;

// ---- tails

TEST_CASE("an idle session takes the tail of the share that ends last, so that both end at the same time") {
  SharesFixture at(16, {1, 2});
  at.beat(1, {{0, 8}});
  at.beat(2, {}, 8);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{12, 16}});
  CHECK(at.work(2) == Ranges{{8, 12}});
  CHECK(at.shares.taken() == 4);
  CHECK(at.shares.reassigned() == 0);
  CHECK(at.shares.take_changed() == std::set<SessionId>{1, 2});
  at.hand_out();
  CHECK(at.shares.take_changed().empty());
}

TEST_CASE("of two sessions that are busy the one that ends later gives its tail") {
  SharesFixture at(12, {1, 2, 3});
  at.beat(1, {{0, 4}});
  at.beat(2, {{4, 6}}, 6);
  at.beat(3, {}, 8);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{10, 12}});
  CHECK(at.work(3) == Ranges{{8, 10}});
  CHECK_FALSE(at.shares.take_changed().contains(2));
}

TEST_CASE("a tail is taken for more than a tenth of a slot and the least gain, and for no less") {
  for (const Micros slot : {Micros{100'000}, Micros{400'000}}) {
    const auto least = std::max<Micros>(20'000, slot / 10);
    for (const bool is_enough : {false, true}) {
      CAPTURE(slot);
      CAPTURE(is_enough);
      SharesFixture at(4, {1, 2});
      at.beat(1, {{0, 2}}, kNoSlot, 0, slot);
      // The holder's slot in hand ends soon: its last one would end a slot after that, and here a slot from now.
      at.now += slot;
      at.beat(2, {}, 2, slot - least - (is_enough ? 1 : 0), slot);
      at.hand_out();
      CHECK((at.shares.taken() == 1) == is_enough);
      CHECK(at.work(2) == (is_enough ? Ranges{{2, 3}} : Ranges{{2, 4}}));
    }
  }
}

TEST_CASE("a slot that is being computed is not taken away with a tail") {
  SharesFixture at(4, {1, 2});
  at.beat(1, {{0, 2}}, kNoSlot, 0, 1'000);  // fast enough for both
  at.beat(2, {}, 2);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{3, 4}});
  CHECK(at.work(2) == Ranges{{2, 3}});
}

TEST_CASE("a slot that its holder is about to begin is not taken with a tail: both would compute it") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 4}});
  const auto soon = 2 * kSlotTime - SlotShares::Floors{}.gain;
  at.beat(2, {{4, 6}}, 6, soon + 1, 2 * kSlotTime);
  auto later = at;
  at.hand_out();
  CHECK(at.shares.taken() == 0);
  later.beat(2, {{4, 6}}, 6, soon, 2 * kSlotTime);
  later.hand_out();
  CHECK(later.work(1) == Ranges{{7, 8}});
}

TEST_CASE("between its heartbeats a session gets on as it did: its tail is not taken for what it has done since") {
  SharesFixture at(8, {1, 2});
  at.beat(2, {}, 4);
  at.now += 2 * kSlotTime;
  at.beat(1, {{0, 4}});
  at.hand_out();
  CHECK(at.work(2) == Ranges{{4, 7}});  // [4, 6) are taken to be done, 6 in hand: at a heartbeat, two would be left
  CHECK(at.shares.taken() == 1);
}

TEST_CASE("once a session has weights of a later step, shards owe the report of this one, and nobody gets of it") {
  SharesFixture at(8, {1, 2});
  at.beat(1, {{0, 4}});
  SlotProgress ahead;
  ahead.step = 1;
  ahead.begun = 1;
  ahead.slot_time = kSlotTime;
  at.shares.heard(2, ahead, at.now);
  at.hand_out();
  CHECK(at.work(1) == Ranges{{0, 4}});
  CHECK(at.work(2) == Ranges{{4, 8}});
  CHECK(at.shares.take_changed().empty());
  // It comes too late: what is missing may be missing, whatever the session says, and says again.
  at.now += SlotShares::Floors{}.late_share;
  at.shares.heard(2, ahead, at.now);
  at.silent = {2};
  at.hand_out();
  CHECK(at.work(1) == Ranges{{4, 8}});
}

TEST_CASE("without redistribution no tail is taken, and no slot copied") {
  SlotShares::Rules rigid;
  rigid.redistributes = false;
  SharesFixture at(16, {1, 2}, rigid);
  at.beat(1, {{0, 8}});
  at.beat(2, {}, 8);
  at.hand_out();
  CHECK(at.shares.taken() == 0);
  CHECK(at.shares.backups() == 0);
}

TEST_CASE("a session that has not begun the step needs its weights first, and takes less for it") {
  SharesFixture at(16, {1, 2});
  at.beat(1, {{0, 8}});
  at.beat(2, {}, 8);
  at.sessions = {1, 2, 3};
  at.hand_out();
  // Of session 3 nothing is known: it is taken to begin at once, as fast as the others.
  CHECK(at.shares.taken() > 4);
  CHECK_FALSE(at.work(3).empty());
}

// ---- copies

TEST_CASE("with nothing left to begin, a slot in hand is copied if it arrives sooner from elsewhere") {
  SharesFixture at(4, {1, 2});
  at.beat(1, {{0, 2}}, kNoSlot, 0, kSlotTime / 10);
  at.beat(2, {{2, 3}}, 3);
  at.arrive({{0, 3}});
  at.hand_out();
  CHECK(at.work(1) == Ranges{{3, 4}});
  CHECK(at.work(2) == Ranges{{2, 3}});  // it sends what is before the slot at once, and finishes the slot
  CHECK(at.shares.backups() == 1);
  at.hand_out();
  CHECK(at.shares.backups() == 1);
}

TEST_CASE("a slot in hand is not copied if that does not gain enough") {
  SharesFixture at(4, {1, 2});
  at.beat(1, {{0, 2}}, kNoSlot, 0, kSlotTime - SlotShares::Floors{}.gain);
  at.beat(2, {{2, 3}}, 3);
  at.arrive({{0, 3}});
  auto faster = at;
  at.hand_out();
  CHECK(at.shares.backups() == 0);
  faster.beat(1, {{0, 2}}, kNoSlot, 0, kSlotTime - SlotShares::Floors{}.gain - 1);
  faster.hand_out();
  CHECK(faster.shares.backups() == 1);
}

TEST_CASE("a slot is copied once, whoever else is idle") {
  SharesFixture at(6, {1, 2, 3});
  at.beat(1, {{0, 2}}, kNoSlot, 0, 1'000);
  at.beat(2, {{2, 4}}, kNoSlot, 0, 1'000);
  at.beat(3, {{4, 5}}, 5);
  at.arrive({{0, 5}});
  at.hand_out();
  CHECK(at.shares.backups() == 1);
  CHECK(at.shares.take_changed().size() == 2);
}

TEST_CASE("what one of two has brought, the other is not to begin any more") {
  SharesFixture at(12, {1, 2, 3});
  at.beat(2, {{4, 8}});
  at.beat(3, {}, 8);
  at.silent = {1};
  at.hand_out();
  CHECK(at.work(2) == Ranges{{2, 4}});
  at.arrive({{2, 3}});  // by the suspect, that had begun it when it was asked to stop
  CHECK(at.work(2) == Ranges{{3, 4}});
  CHECK(at.shares.missing().contains(3));
}

TEST_CASE("a slot whose copy is lost does not wait for a holder that hangs") {
  SharesFixture at(6, {1, 2, 3});
  at.beat(1, {{0, 2}}, kNoSlot, 0, 1'000);
  at.beat(2, {{2, 4}}, kNoSlot, 0, 1'000);
  at.beat(3, {{4, 5}}, 5);
  at.arrive({{0, 5}});
  at.hand_out();
  REQUIRE(at.shares.backups() == 1);
  const SessionId taker = at.work(1) == Ranges{{5, 6}} ? 1 : 2;
  at.lose(taker);
  const SessionId other = 3 - taker;
  for (int i = 0; i < 20 && at.work(other) != Ranges{{5, 6}}; ++i) {
    at.now += kSlotTime;
    at.beat(3, {{4, 5}}, 5, Micros(i + 1) * kSlotTime);
    at.hand_out();
  }
  CHECK(at.work(other) == Ranges{{5, 6}});
}
