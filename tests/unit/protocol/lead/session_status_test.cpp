// What a status tells of sessions that compute slots.
#include <doctest/doctest.h>

#include "protocol/lead/course.h"
#include "tests/unit/protocol/lead/reports.h"

using namespace ballast;
using namespace ballast::reports;

namespace {

constexpr SessionId kQuick = 7;
constexpr SessionId kSilent = 8;

// Eight slots a step.
Course eight_slots() {
  RoundCourse::Rules rules;
  rules.steps = 20;
  rules.shares.step = {8, 1'000, 2};
  return Course(rules);
}

SlotProgress progress_in_slot(Slot slot, Micros slot_time) {
  SlotProgress progress;
  progress.in_hand = slot;
  progress.in_hand_for = 100;
  progress.begun = 400;
  progress.slot_time = slot_time;
  progress.up = 5'000;
  progress.down = 6'000;
  return progress;
}

SessionStatus session_status(const Course& course, SessionId session) {
  SessionStatus status;
  course.tell(session, status);
  return status;
}

}  // namespace

TEST_CASE("a status tells what the lead has learnt of a session, its share, and why it is not counted on") {
  auto course = eight_slots();
  course.begin({kQuick, kSilent}, 0);
  course.reopen(1'000);
  const auto shards = roster({at_step(0, {0xFF})});
  observe(course, shards, 1'000);
  course.at(2'000);
  course.heard(kQuick, progress_in_slot(0, 2'000));
  course.at(2'000);
  course.heard(kSilent, progress_in_slot(4, 2'500));
  course.hand_out({kQuick, kSilent}, {kSilent}, shards, 20, 2'100);
  const auto quick = session_status(course, kQuick);
  CHECK(quick.held_up.empty());
  CHECK(quick.slot_time == 2'000);
  CHECK(quick.lag == 600);
  CHECK(quick.up == 5'000);
  CHECK(quick.down == 6'000);
  CHECK(quick.share == 4);
  const auto silent = session_status(course, kSilent);
  CHECK(silent.held_up == "it is silent");
  CHECK(silent.slot_time == 2'500);
  CHECK(session_status(course, 9) == SessionStatus{});
  course.lose(kSilent);
  CHECK(session_status(course, kSilent) == SessionStatus{});
}

TEST_CASE("a status counts the slots that changed hands") {
  auto course = eight_slots();
  course.begin({kQuick, kSilent}, 0);
  course.reopen(1'000);
  observe(course, roster({at_step(0, {0xF0})}), 1'000);  // the second session's
  auto done = progress_in_slot(kNoSlot, 2'000);
  done.computed = {{0, 4}};
  course.at(2'000);
  course.heard(kQuick, done);
  course.hand_out({kQuick, kSilent}, {kSilent}, roster({}), 20, 2'000);
  Status status;
  course.tell(status);
  CHECK(status.slots_reassigned > 0);
  CHECK(status.slots_taken == 0);
  CHECK(course.backups() == 0);
}

TEST_CASE("in item mode nothing of the kind is known") {
  const Course course(ItemCourse::Rules{2, 20, 5, true, {4, 0, 1, {100, 1'000, 10'000}}});
  CHECK(session_status(course, kQuick) == SessionStatus{});
  Status status;
  course.tell(status);
  CHECK(status == Status{});
}
