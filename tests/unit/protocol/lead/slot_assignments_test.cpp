#include "protocol/lead/slot_assignments.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kLateSlot = 1'000;

SlotSet slots(std::uint32_t count, std::initializer_list<SlotRange> ranges) {
  SlotSet set(count);
  for (const auto range : ranges) {
    set.insert(range);
  }
  return set;
}

}  // namespace

TEST_CASE("a division gives every slot to exactly one session") {
  for (Slot count = 1; count <= 20; ++count) {
    for (std::uint64_t sessions = 1; sessions <= 25; ++sessions) {
      SlotAssignments work(count);
      std::vector<SessionId> ids;
      for (std::uint64_t id = 1; id <= sessions; ++id) {
        ids.push_back(id);
      }
      work.divide(ids, 0);
      Slot next = 0;
      for (const auto id : ids) {
        const auto range = work.standing(id, 5).slots;
        CHECK(range.begin == next);
        CHECK(range.size() <= count / sessions + 1);
        next = range.end;
      }
      CHECK(next == count);
    }
  }
}

TEST_CASE("a division begins at its step and has a number of its own") {
  SlotAssignments work(4);
  work.divide({1, 2}, 0);
  const auto first = work.generation();
  CHECK(work.standing(1, 9) == Standing{0, 9, {0, 2}});
  work.divide({2}, 3);
  CHECK(work.generation() > first);
  CHECK(work.standing(2, 9) == Standing{3, 9, {0, 4}});
  CHECK(work.standing(1, 9).slots.empty());
}

TEST_CASE("what somebody brings in time is not handed out again") {
  SlotAssignments work(4);
  work.divide({1, 2}, 0);
  work.observe(0, SlotSet::full(4), 100);
  work.hand_out({1, 2}, 100 + kLateSlot - 1, kLateSlot);
  CHECK_FALSE(work.extra(1).has_value());
  CHECK_FALSE(work.extra(2).has_value());
}

TEST_CASE("late slots go to a session that has nothing left to bring") {
  SlotAssignments work(4);
  work.divide({1, 2}, 0);
  work.observe(0, SlotSet::full(4), 0);
  work.observe(0, slots(4, {{0, 2}}), 500);  // session 2 has delivered its part
  work.hand_out({1, 2}, kLateSlot, kLateSlot);
  CHECK_FALSE(work.extra(1).has_value());
  REQUIRE(work.extra(2).has_value());
  CHECK(*work.extra(2) == Extra{0, {0, 2}});
  CHECK(work.backups() == 2);
  // The second holder has the same time.
  work.hand_out({1, 2}, kLateSlot + 1, kLateSlot);
  CHECK(work.backups() == 2);
}

TEST_CASE("a lost session's slots go to the others at once, to a busy one if all are busy") {
  SlotAssignments work(4);
  work.divide({1, 2}, 0);
  work.observe(0, SlotSet::full(4), 0);
  work.lose(1);
  work.hand_out({2}, 1, kLateSlot);
  REQUIRE(work.extra(2).has_value());
  CHECK(*work.extra(2) == Extra{0, {0, 2}});
  CHECK(work.handed_out() == 2);
  CHECK(work.backups() == 0);
}

TEST_CASE("several free sessions share what is missing") {
  SlotAssignments work(8);
  work.divide({1}, 0);
  work.observe(0, SlotSet::full(8), 0);
  work.lose(1);
  work.hand_out({2, 3}, 1, kLateSlot);
  REQUIRE(work.extra(2).has_value());
  REQUIRE(work.extra(3).has_value());
  CHECK(work.extra(2)->slots == SlotRange{0, 4});
  CHECK(work.extra(3)->slots == SlotRange{4, 8});
}

TEST_CASE("extra work ends with its step") {
  SlotAssignments work(4);
  work.divide({1, 2}, 0);
  work.observe(0, SlotSet::full(4), 0);
  work.lose(1);
  work.hand_out({2}, 1, kLateSlot);
  work.observe(1, SlotSet::full(4), 2);
  CHECK_FALSE(work.extra(2).has_value());
}

TEST_CASE("extra work is not replaced before it has been delivered") {
  SlotAssignments work(4);
  work.divide({1}, 0);
  work.observe(0, slots(4, {{0, 1}, {2, 3}}), 0);
  work.lose(1);
  work.hand_out({2}, 1, kLateSlot);
  CHECK(work.extra(2) == Extra{0, {0, 1}});
  work.hand_out({2}, 2, kLateSlot);
  CHECK(work.extra(2) == Extra{0, {0, 1}});
  work.observe(0, slots(4, {{2, 3}}), 3);
  work.hand_out({2}, 3, kLateSlot);
  CHECK(work.extra(2) == Extra{0, {2, 3}});
}

TEST_CASE("everything missing is delivered in the end, by whoever is left") {
  for (Slot missing_bits = 1; missing_bits < 64; ++missing_bits) {
    SlotAssignments work(6);
    work.divide({1}, 0);
    SlotSet missing = SlotSet::from_words(6, {missing_bits});
    work.observe(0, missing, 0);
    work.lose(1);
    Micros now = 0;
    for (int turn = 0; turn < 10 && !missing.empty(); ++turn) {
      now += kLateSlot;
      work.hand_out({7}, now, kLateSlot);
      REQUIRE(work.extra(7).has_value());
      missing.erase(work.extra(7)->slots);
      work.observe(0, missing, now);
    }
    CAPTURE(missing_bits);
    CHECK(missing.empty());
  }
}

TEST_CASE("nobody is late for the time in which no work was given out") {
  SlotAssignments work(2);
  work.divide({1, 2}, 0);
  work.observe(0, SlotSet::full(2), 0);
  work.observe(1, SlotSet::full(2), 100);
  work.reopen(50 * kLateSlot);
  work.hand_out({1, 2}, 50 * kLateSlot + 10, kLateSlot);
  CHECK(work.backups() == 0);
}
