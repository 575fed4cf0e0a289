#include "protocol/lead/course.h"

#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/reports.h"

using namespace ballast;
using namespace ballast::reports;

namespace {

constexpr LearntDeadline::Bounds kLate{100, 1'000, 10'000};
constexpr SessionId kFirst = 7;
constexpr SessionId kSecond = 8;

Course rounds() {
  SlotShares::Rules shares;
  shares.step = {.slots = 4, .bytes = 0, .chunks = 1};
  shares.late = kLate.initial;
  return Course(RoundCourse::Rules{20, shares});
}

Course items(bool journaled = true) { return Course(ItemCourse::Rules{2, 20, 5, journaled, {4, 0, 1, kLate}}); }

// Evaluated is every fourth step.
Evaluations evaluations() { return {{20, 4, 0, 10, 10, 0, 0, kLate}, {}}; }

Assign told(Course& course, SessionId session, Step limit = 20, bool trains = true) {
  Assign assign;
  course.tell(session, limit, trains, assign);
  return assign;
}

std::vector<ItemId> granted(Course& course, SessionId session) {
  std::vector<ItemId> items;
  for (const auto& grant : told(course, session).items.grants) {
    items.push_back(grant.item);
  }
  return items;
}

}  // namespace

TEST_CASE("in rounds a step is one update, and the oldest lane's is the open one") {
  auto course = rounds();
  observe(course, roster({at_step(3), at_step(2)}), 10);
  CHECK(course.open_step() == 2);
  CHECK(course.updates(3) == 3);
  CHECK(course.untouched(roster({at_step(3), at_step(2)})) == 3);
  CHECK(course.first_missing(at_step(3)) == 3);
  CHECK(course.has_passed(at_step(3), 2));
  CHECK_FALSE(course.has_passed(at_step(3), 3));
  CHECK_FALSE(course.has_passed(at_step(20), 3));  // without chunks
  auto ahead = at_step(3);
  ahead.rounds.reached = 4;  // by one of its chunks
  CHECK(course.has_passed(ahead, 3));
  CHECK_FALSE(course.has_passed(ahead, 4));
  CHECK(course.untouched(roster({ahead, at_step(2)})) == 4);
  auto at_end = at_step(20);
  at_end.rounds.reached = 20;
  CHECK(course.has_passed(at_end, 3));
  CHECK_FALSE(course.has_passed(at_end, 20));
  CHECK(course.untouched(roster({at_end, at_step(19)})) == 20);
}

TEST_CASE("work of a step has been given out when somebody was told to compute it") {
  auto in_rounds = rounds();
  in_rounds.begin({kFirst}, 3);
  CHECK_FALSE(told(in_rounds, kFirst, 3).rounds.standing.slots.empty());  // of no step yet
  CHECK_FALSE(in_rounds.has_given_out(3));
  told(in_rounds, kFirst, 4);
  CHECK(in_rounds.has_given_out(3));
  CHECK_FALSE(in_rounds.has_given_out(4));
  in_rounds.rewind(2);
  CHECK_FALSE(in_rounds.has_given_out(2));
  auto in_items = items();
  const auto shards = roster({at_item(0, 0)});
  in_items.begin({kFirst}, 0);
  observe(in_items, shards, 0);
  CHECK_FALSE(in_items.has_given_out(0));
  in_items.hand_out({kFirst}, {}, shards, 1, 0);
  CHECK(in_items.has_given_out(0));
  in_items.rewind(0);
  CHECK_FALSE(in_items.has_given_out(0));
}

TEST_CASE("in rounds slots that somebody is late with are given to another session") {
  auto course = rounds();
  const SlotRange firsts{0, 2};
  course.begin({kFirst, kSecond}, 0);
  CHECK(told(course, kSecond).rounds.standing.slots == SlotRange{2, 4});
  course.reopen(0);
  observe(course, roster({at_step(0, {0b0010}), at_step(0, {0b0001})}), 0);  // slots 0 and 1, of the first session
  course.hand_out({kFirst, kSecond}, {}, roster({}), 20, 1'000);
  CHECK_FALSE(told(course, kSecond).rounds.now);
  course.hand_out({kFirst, kSecond}, {}, roster({}), 0, 1'001);
  CHECK_FALSE(told(course, kSecond).rounds.now);  // nothing is given out at the limit
  CHECK(course.held_up(kFirst).empty());
  course.hand_out({kFirst, kSecond}, {}, roster({}), 20, 1'001);
  CHECK(course.held_up(kFirst) == "it brings nothing of its share of step 0");
  CHECK(told(course, kSecond).rounds.now == StepWork{0, {firsts}});
  CHECK(told(course, kFirst).rounds.now == StepWork{0, {}});
  CHECK(course.take_changed() == std::set<SessionId>{kFirst, kSecond});
  CHECK_FALSE(told(course, kSecond, 20, false).rounds.now);  // only while the job trains
  CHECK_FALSE(told(course, kSecond, 0).rounds.now);          // and not at the limit
}

TEST_CASE("in rounds a session that is suspected is not counted on, and is once more when it is heard of") {
  auto course = rounds();
  course.begin({kFirst, kSecond}, 0);
  observe(course, roster({at_step(0, {0b0011})}), 0);  // slots 0 and 1, of the first session
  course.hand_out({kFirst, kSecond}, {kFirst}, roster({}), 20, 10);
  CHECK(course.held_up(kFirst) == "it is silent");
  CHECK(told(course, kSecond).rounds.now == StepWork{0, {{0, 2}}});
  course.hand_out({kFirst, kSecond}, {}, roster({}), 20, 20);
  CHECK(course.held_up(kFirst).empty());
}

TEST_CASE("in rounds nobody is late for the time in which nothing was given out, and for no other") {
  for (const Step limit : {0, 1}) {
    auto course = rounds();
    const auto shards = roster({at_step(0, {0b0001})});
    course.begin({kFirst, kSecond}, 0);
    observe(course, shards, 0);
    course.hand_out({kFirst, kSecond}, {}, shards, limit, 0);
    course.reopen(999);
    course.hand_out({kFirst, kSecond}, {}, shards, 20, 1'001);
    CHECK(told(course, kSecond).rounds.now.has_value() == (limit > 0));
  }
}

TEST_CASE("in rounds nothing but an evaluation stops anybody, and nothing is lost within a timeline") {
  auto course = rounds();
  CHECK(course.next_barrier(4, evaluations()) == 8);
  CHECK_FALSE(course.has_cuts());
  CHECK_FALSE(course.is_due_at(5));
  CHECK_FALSE(course.resumes_shards());
  CHECK_FALSE(course.is_broken(roster({at_step(1)})));
}

TEST_CASE("in item mode a step is an update for each slot, and open until all chunks have all of them") {
  auto course = items();
  const auto shards = roster({at_item(6, 9), at_item(5, 5)});
  observe(course, shards, 10);
  CHECK(course.open_step() == 2);
  CHECK(course.updates(3) == 6);
  CHECK(course.first_missing(at_item(5, 5)) == 5);
  CHECK(course.untouched(shards) == 5);  // item 8 is of step 4
  CHECK(course.is_beyond(shards, 4));
  CHECK_FALSE(course.is_beyond(shards, 5));
  CHECK(course.has_passed(at_item(6, 9), 4));
  CHECK_FALSE(course.has_passed(at_item(40, 40), 4));  // without chunks
}

TEST_CASE("in item mode grants end at the limit and where a lane's plan ends") {
  auto course = items();
  const auto shards = roster({at_item(0, 0, 3), at_item(0, 0)});
  course.begin({kFirst}, 0);
  observe(course, shards, 0);
  course.hand_out({kFirst}, {}, shards, 1, 0);
  CHECK(granted(course, kFirst) == std::vector<ItemId>{0, 1});
  course.hand_out({kFirst}, {}, shards, 2, 0);
  CHECK(granted(course, kFirst) == std::vector<ItemId>{0, 1, 2});
  CHECK(told(course, kFirst, 2, false).items.grants.empty());
  CHECK(told(course, kFirst).rounds.standing == Standing{});
  course.delivered(kFirst, {{1, 1}, {1, 3}}, 10);  // by the clocks of the grants
  CHECK(granted(course, kFirst) == std::vector<ItemId>{1});
  course.shard_resumed();  // it may have lost what it had not reported
  course.members_changed({kFirst, kSecond}, 1);
  course.hand_out({kFirst, kSecond}, {}, shards, 1, 20);
  CHECK(granted(course, kSecond) == std::vector<ItemId>{0});
  course.dropped(kFirst, {{1, 2}}, 30);
  CHECK(granted(course, kFirst) == std::vector<ItemId>{});
}

TEST_CASE("in item mode all stop at each step to be kept") {
  auto course = items();
  CHECK(course.next_barrier(4, evaluations()) == 5);
  CHECK(course.next_barrier(5, evaluations()) == 8);
  CHECK(course.has_cuts());
  CHECK(course.is_due_at(10));
  CHECK_FALSE(course.is_due_at(11));
}

TEST_CASE("a cut is where each lane has exactly the items before it, by a report on the plan that ends there") {
  const LeadNumber kPlan{2, 7};
  const auto exact = [kPlan](ItemId synced = 8) {
    auto report = at_item(8, 8);
    report.plan = kPlan;
    report.items.synced = synced;
    return report;
  };
  const auto course = items();
  CHECK(course.is_cut(roster({exact(), exact()}), 4, kPlan));
  auto beyond = exact();
  beyond.items.reached = 9;
  CHECK_FALSE(course.is_cut(roster({exact(), beyond}), 4, kPlan));
  auto behind = exact();
  behind.items.covered = {{0, 7}, {8, 9}};
  CHECK_FALSE(course.is_cut(roster({exact(), behind}), 4, kPlan));
  CHECK_FALSE(course.is_cut(roster({exact(), exact()}), 4, {2, 8}));  // a newer plan may have let it go on
  CHECK_FALSE(course.is_cut(roster({exact(), exact(7)}), 4, kPlan));
  CHECK(items(false).is_cut(roster({exact(), exact(0)}), 4, kPlan));  // without a journal
  auto without_chunks = exact();
  without_chunks.items.covered = {{0, 40}};
  without_chunks.items.reached = 0;
  CHECK(course.is_cut(roster({exact(), without_chunks}), 4, kPlan));
  auto away = roster({exact(), exact()});
  away.lanes().erase({1, 0});
  CHECK_FALSE(course.is_cut(away, 4, kPlan));
}

TEST_CASE("marks break the timeline where journals count") {
  const auto shards = roster({at_item(8, 8)});
  auto marked = at_item(8, 8);
  marked.items.marks = {{0, 3, 1}};  // of a life that the shard does not know
  auto course = items();
  course.take_marks(marked);
  CHECK(course.is_broken(shards));
  course.rewind(0);
  CHECK_FALSE(course.is_broken(shards));
  auto other = items(false);
  other.take_marks(marked);
  CHECK_FALSE(other.is_broken(shards));
}

TEST_CASE("a course that is copied goes its own way") {
  auto course = items();
  const auto shards = roster({at_item(0, 0)});
  course.begin({kFirst}, 0);
  observe(course, shards, 0);
  auto other = course;
  course.hand_out({kFirst}, {}, shards, 1, 0);
  CHECK(granted(course, kFirst).size() == 2);
  CHECK(granted(other, kFirst).empty());
}
