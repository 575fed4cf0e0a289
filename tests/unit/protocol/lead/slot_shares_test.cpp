#include "protocol/lead/slot_shares.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/protocol/states.h"

using namespace ballast;

namespace {

constexpr Micros kSlotTime = 100'000;
constexpr Micros kNothingKnown = 1'000'000;  // Rules::late
constexpr Step kNoLimit = 1'000;

using Ranges = std::vector<SlotRange>;
using Sessions = std::vector<SessionId>;

SlotSet set_of_slots(Slot slots, const Ranges& ranges) {
  SlotSet set(slots);
  for (const auto range : ranges) {
    set.insert(range);
  }
  return set;
}

// Sessions that send in no time, and whose heartbeats a test writes itself. The open step is 0 until it opens another.
class SharesFixture {
 public:
  explicit SharesFixture(Slot slots, Sessions ids, SlotShares::Rules with = {})
      : shares(rules_of(slots, with)), sessions(std::move(ids)), missing(SlotSet::full(slots)) {
    shares.divide(sessions, 0);
    shares.observe(0, missing, now);
    shares.take_changed();
  }
  static SlotShares::Rules rules_of(Slot slots, SlotShares::Rules rules) {
    rules.step = {.slots = slots, .bytes = 0, .chunks = 1};
    rules.late = kNothingKnown;
    return rules;
  }

  void hand_out(Step limit = kNoLimit) { shares.hand_out(sessions, silent, limit, now); }
  // A heartbeat of the open step: these slots are computed, this one is in hand for so long.
  bool beat(SessionId session, const Ranges& computed, Slot in_hand = kNoSlot, Micros in_hand_for = 0,
            Micros slot_time = kSlotTime) {
    SlotProgress progress;
    progress.step = open;
    progress.computed = computed;
    progress.in_hand = in_hand;
    progress.in_hand_for = in_hand_for;
    progress.begun = std::max<Micros>(now - opened, 1);
    progress.slot_time = slot_time;
    return shares.heard(session, progress, now);
  }
  void arrive(const Ranges& slots) {
    for (const auto range : slots) {
      missing.erase(range);
    }
    shares.observe(open, missing, now);
  }
  void open_step(Step step) {
    open = step;
    opened = now;
    missing = SlotSet::full(missing.slots());
    shares.observe(open, missing, now);
    shares.take_changed();
  }
  void lose(SessionId session) {
    shares.lose(session);
    std::erase(sessions, session);
    silent.erase(session);
  }
  // What the session is to compute of the open step.
  [[nodiscard]] Ranges work(SessionId session) const {
    if (const auto own = shares.now(session)) {
      return own->ranges;
    }
    const auto standing = shares.standing(session, kNoLimit);
    return standing.slots.empty() || standing.from > open ? Ranges{} : Ranges{standing.slots};
  }

  SlotShares shares;
  Sessions sessions;
  std::set<SessionId> silent;
  SlotSet missing;
  Step open = 0;
  Micros now = 10'000'000;
  Micros opened = now;
};

}  // namespace

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
  CHECK(at.shares.standing(1, 9) == Standing{1, 9, {0, 4}});
  CHECK(at.shares.standing(2, 9) == Standing{1, 9, {4, 8}});
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
  for (Step step = 0; step < 3; ++step) {
    CHECK(at.shares.held_up(2).find("in a row") == std::string::npos);
    miss_step(at, step + 1);
  }
  at.hand_out();
  auto brings = at;
  at.lose(3);
  brings.beat(2, {{2, 3}}, 3);
  brings.open_step(4);
  brings.hand_out();
  CHECK(brings.shares.held_up(2).empty());
  brings.shares.divide(brings.sessions, 5);
  CHECK(brings.shares.standing(2, 9).slots == SlotRange{2, 4});
  at.shares.divide(at.sessions, 5);
  CHECK(at.shares.standing(1, 9).slots == SlotRange{0, 4});
  CHECK(at.shares.standing(2, 9).slots.empty());
  at.open_step(5);
  at.hand_out();
  CHECK(at.shares.held_up(2) == "it brought nothing of its share of 3 steps in a row");
}

TEST_CASE("a session that brought something late has not missed, though it is heard of at the next step first") {
  SlotShares::Rules even;
  even.by_speed = false;
  SharesFixture at(4, {1, 2}, even);
  for (Step step = 0; step < 4; ++step) {
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
    at.open_step(step + 1);
  }
  at.shares.divide(at.sessions, 5);
  CHECK(at.shares.standing(2, 9).slots == SlotRange{2, 4});
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

TEST_CASE("a session that is lost while it has nothing of the open step is forgotten, and no other one") {
  SlotHolders holders(SharesFixture::rules_of(4, {}));
  holders.open_step(0, SlotSet::full(4), {{1, {0, 4}}}, 10'000'000);
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
