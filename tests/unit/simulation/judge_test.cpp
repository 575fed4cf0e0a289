// The judge's parts, alone: each must see what it is there for. That they see it in the simulation as well, its mutants
// show.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/simulation/judge/accounts.h"
#include "tests/simulation/judge/item_histories.h"
#include "tests/simulation/judge/item_reports.h"
#include "tests/simulation/judge/orders.h"
#include "tests/simulation/judge/recovery.h"
#include "tests/simulation/judge/replies.h"
#include "tests/simulation/judge/rollback_counts.h"
#include "tests/simulation/judge/rounds.h"
#include "tests/simulation/judge/skips.h"
#include "tests/simulation/judge/snapshots.h"
#include "tests/simulation/judge/timelines.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

constexpr LaneLife kLane{1, 0, 7, 1, {1, 1}};

Ledger first_ledger() {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.incarnations = {7, 8};
  ledger.databases = {{1, 1}, {2, 1}};
  ledger.complete = {{0, 0}};
  ledger.placement = 1;
  return ledger;
}

Disks served_disks() {
  Disks disks(2);
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    disks.present[shard].life = {shard + 1, 1};
    disks.present[shard].timeline = 1;
  }
  return disks;
}

TEST_CASE("a timeline is served by the lives that a durable ledger lists, once their own record is durable") {
  const auto life = small_life();
  auto disks = served_disks();
  Timelines timelines(life);
  CHECK_THROWS_AS(timelines.serves(kLane, disks), Violation);
  CHECK(timelines.follow(first_ledger()) == Timelines::Change::begins);
  timelines.became_durable(first_ledger());
  CHECK_NOTHROW(timelines.serves(kLane, disks));
  auto other = kLane;
  other.incarnation = 9;
  CHECK_THROWS_AS(timelines.serves(other, disks), Violation);
  disks.present[0].timeline = 0;
  CHECK_THROWS_AS(timelines.serves(kLane, disks), Violation);
}

TEST_CASE("a timeline has one base, and new lives only in a journaled job with a larger placement") {
  const auto life = small_life_of_items(LifeItems::Journal::always);
  Timelines timelines(life);
  timelines.lane_starts(kLane);
  CHECK(timelines.follow(first_ledger()) == Timelines::Change::begins);
  timelines.became_durable(first_ledger());
  CHECK(timelines.follow(first_ledger()) == Timelines::Change::none);
  auto ledger = first_ledger();
  ledger.base = {0, 1};
  CHECK_THROWS_AS((void)timelines.follow(ledger), Violation);
  ledger = first_ledger();
  ledger.incarnations[0] = 6;
  CHECK_THROWS_AS((void)timelines.follow(ledger), Violation);
  ledger.placement = 2;
  CHECK(timelines.follow(ledger) == Timelines::Change::lives);
  CHECK(timelines.lists_a_life_that_is_over(ledger));
}

TEST_CASE("weights go to those who asked for them, once and within the window") {
  const auto life = small_life();
  RepliesJudge replies(life);
  Weights header;
  header.version = 2;
  CHECK_THROWS_AS(replies.sent(3, 1, header, 100), Violation);
  replies.asked(3, 0, {2, {}});
  replies.asked(3, 0, {2, {}});
  CHECK_NOTHROW(replies.sent(3, 1, header, 100));
  CHECK_THROWS_AS(replies.sent(3, 1, header, 100), Violation);
  replies.asked(3, 0, {2, {}});
  replies.released(3, 1, 100);
  CHECK_NOTHROW(replies.sent(3, 1, header, 100));
}

TEST_CASE("orders and generations never go backwards, and a number names one order") {
  const auto life = small_life();
  OrdersJudge orders(life);
  Assign assign;
  assign.timeline = 1;
  assign.order = {1, 2};
  assign.generation = 3;
  CHECK_THROWS_AS(orders.assigned(3, assign, 2), Violation);
  orders.assigned(3, assign, 1);
  auto other = assign;
  other.rounds.standing = {0, 2, {0, 1}};
  CHECK_THROWS_AS(orders.assigned(3, other, 1), Violation);
  other.order = {1, 1};
  CHECK_THROWS_AS(orders.assigned(3, other, 1), Violation);
  orders.lead_starts();
  CHECK_NOTHROW(orders.assigned(3, other, 1));
}

TEST_CASE("a session is credited with the slots that the statistics' lane has counted") {
  const auto life = small_life();
  SlotAccounts accounts(life);
  const LaneLife statistics{2, 1, 8, 1, {2, 1}};
  Status status;
  status.sessions.emplace_back();
  status.sessions.back().session = 3;
  status.sessions.back().slots = 1;
  CHECK_NOTHROW(accounts.check(status));  // nobody counts
  accounts.serves(statistics, false);
  CHECK_THROWS_AS(accounts.check(status), Violation);
  accounts.credit(statistics, 3);
  CHECK_NOTHROW(accounts.check(status));
  const LaneLife other{2, 1, 9, 1, {3, 1}};
  accounts.lane_starts(other);
  CHECK_NOTHROW(accounts.check({}));
  accounts.serves(other, false);
  CHECK_THROWS_AS(accounts.check(status), Violation);
  accounts.lane_starts(statistics);  // it stood still, and is the shard again
  accounts.serves(statistics, false);
  CHECK_NOTHROW(accounts.check(status));
  accounts.serves(statistics, true);
  status.sessions.back().slots = 2;
  CHECK_NOTHROW(accounts.check(status));  // the end may have been told before the last report
}

TEST_CASE("what a durable ledger lists is not deleted, nor what may still become the newest") {
  auto ledger = first_ledger();
  ledger.complete = {{1, 2}, {1, 4}};
  CHECK_THROWS_AS(check_deletion(ledger, 0, {1, 2}), Violation);
  CHECK_THROWS_AS(check_deletion(ledger, 0, {1, 6}), Violation);
  CHECK_NOTHROW(check_deletion(ledger, 0, {1, 3}));
}

TEST_CASE("a snapshot is complete if every chunk is durable with the value that it should have") {
  const auto life = small_life();
  auto disks = served_disks();
  const auto all = [](const Disk&) { return true; };
  const auto expected = [](ChunkId) { return ChunkValue{5, 6}; };
  CHECK_THROWS_AS(check_stored(life, disks, {1, 1}, all, expected), Violation);
  disks.present[0].write({1, 1}, 0, {5, 6});
  CHECK_THROWS_AS(check_stored(life, disks, {1, 1}, all, expected), Violation);
  disks.present[0].sync();
  CHECK_NOTHROW(check_stored(life, disks, {1, 1}, all, expected));
  CHECK_THROWS_AS(check_stored(life, disks, {1, 1}, all, [](ChunkId) { return ChunkValue{5, 7}; }), Violation);
  CHECK_NOTHROW(check_stored(
      life, disks, {2, 1}, [](const Disk&) { return false; }, expected));
}

TEST_CASE("a chunk is taken only into a snapshot that was ordered") {
  SnapshotOrders orders;
  Plan plan;
  plan.timeline = 1;
  plan.snapshots = {2};
  orders.planned(plan);
  CHECK_NOTHROW(orders.taken(kLane, {1, 2}));
  CHECK_THROWS_AS(orders.taken(kLane, {1, 3}), Violation);
  CHECK_THROWS_AS(orders.taken(kLane, {2, 2}), Violation);
}

TEST_CASE("a step is skipped only for a gradient that is not finite") {
  auto life = small_life();
  life.non_finite_gradients = {{2, 0, 1}};
  auto ledger = first_ledger();
  ledger.skipped = {{2, 3}};
  CHECK_NOTHROW(check_skipped(life, NonFinite::skip, ledger));
  ledger.skipped = {{1, 3}};
  CHECK_THROWS_AS(check_skipped(life, NonFinite::skip, ledger), Violation);
  CHECK_NOTHROW(check_skipped(life, NonFinite::rollback, ledger));
  CHECK(first_fault(life, 2, 0) == 1);
  CHECK(first_fault(life, 1, 0) == kNoSlot);
}

// ---- the courses

TEST_CASE("rounds: a root has each slot once and in the tree's order, and the weights follow") {
  const auto life = small_life();
  const Reference reference(life, {});
  RoundsJudge rounds(life);
  rounds.timeline_begins(Disks(2), 1, {0, 0});
  const auto all = reference.all(0);
  const auto left = gradient(life, 0, 0, 0, all);
  const auto right = gradient(life, 0, 1, 0, all);
  auto root = HeldPayload{0, 0, {0, 2}, sum(left, right), 3};
  root.payload.timeline = 1;
  RoundUpdate update{1, 0, 0, false, factors(0, 0)};
  auto swapped = root;
  swapped.payload.value = sum(right, left).value;
  CHECK_THROWS_AS((void)rounds.applied(update, swapped, reference.value(1, 0)), Violation);
  auto twice = root;
  twice.payload.slots = 0x12;
  CHECK_THROWS_AS((void)rounds.applied(update, twice, reference.value(1, 0)), Violation);
  CHECK_THROWS_AS((void)rounds.applied(update, root, reference.value(2, 0)), Violation);
  const auto before = rounds;
  CHECK_NOTHROW((void)rounds.applied(update, root, reference.value(1, 0)));
  CHECK(rounds.version(1, 0) == 1);
  CHECK(before.version(1, 0) == 0);  // a copy is a history of its own
}

ItemHistories::Entry entry(ItemId item) {
  ItemHistories::Entry entry;
  entry.item = item;
  entry.payload.value = 100 + item;
  return entry;
}

TEST_CASE("items: a chunk's values follow one from the other, and what is rewound is forgotten") {
  const auto life = small_life_of_items(LifeItems::Journal::none);
  ItemHistories histories(life);
  CHECK_THROWS_AS((void)histories.of(1), Violation);
  histories.begin(1, {0, 0});
  auto& chunk = histories.of(1).chunks[0];
  chunk.entries = {entry(1), entry(0)};
  CHECK(chunk.has_pending(1));
  histories.apply_next(1, 0);
  CHECK(!chunk.has_pending(1));
  CHECK(chunk.has(1));
  CHECK(histories.value(1, 0, 1) == apply(life, {0, 0, 1, 0}, histories.value(1, 0, 0), entry(1).payload, {}));
  CHECK_THROWS_AS((void)histories.value(1, 0, 2), Violation);
  histories.rewind(1, 0, 0);
  CHECK_THROWS_AS((void)histories.value(1, 0, 1), Violation);
}

// Chunk 0 after items 1 (two updates stale), 0 and 3.
ChunkValue after_three(const LifeSpec& life, const std::vector<ItemId>& order) {
  ItemHistories histories(life);
  histories.begin(1, {0, 0});
  auto& chunk = histories.of(1).chunks[0];
  for (const auto item : order) {
    chunk.entries.push_back(entry(item));
    chunk.entries.back().staleness = item == 1 ? 2 : 0;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    histories.apply_next(1, 0);
  }
  return histories.value(1, 0, 3);
}

TEST_CASE("items: a buffer is what it was and all changes, in any order, each divided by its own staleness") {
  auto life = small_life_of_items(LifeItems::Journal::none);
  life.chunks[0].rule = LifeRule::change;
  const auto of = [&](ItemId item, std::uint64_t staleness) {
    return change(life, {0, item / 2, static_cast<Slot>(item % 2), staleness}, entry(item).payload, {});
  };
  const auto value = after_three(life, {1, 0, 3});
  CHECK(value.weights == initial(life, 0).weights + of(1, 2) + of(0, 0) + of(3, 0));
  CHECK(value == after_three(life, {3, 1, 0}));
  CHECK(of(1, 2) != of(1, 0));
  CHECK(of(1, 1) == of(1, 0));
  life.filled = 1;  // item 3 is the second slot of an epoch's last step
  CHECK(of(3, 0) == 0);
  CHECK(after_three(life, {1, 0, 3}).weights == initial(life, 0).weights + of(1, 2) + of(0, 0));
}

TEST_CASE("items: a statistic goes into the newest value, whatever its staleness, and none without examples") {
  auto life = small_life_of_items(LifeItems::Journal::none);
  life.chunks[0].rule = LifeRule::statistic;
  const auto blended = [&](const ChunkValue& value, ItemId item, std::uint64_t staleness) {
    return apply(life, {0, item / 2, static_cast<Slot>(item % 2), staleness}, value, entry(item).payload, {});
  };
  const auto first = blended(initial(life, 0), 1, 2);
  CHECK(first == blended(initial(life, 0), 1, 0));
  CHECK(after_three(life, {1, 0, 3}) == blended(blended(first, 0, 0), 3, 0));
  CHECK_FALSE(after_three(life, {1, 0, 3}) == after_three(life, {0, 1, 3}));
  life.filled = 1;
  CHECK(after_three(life, {1, 0, 3}) == blended(first, 0, 0));
}

TEST_CASE("items: a cut holds every item of the steps before once, in any order") {
  const auto life = small_life_of_items(LifeItems::Journal::none);
  ItemHistories::Chunk chunk;
  chunk.entries = {entry(1), entry(0)};
  chunk.applied = 2;
  CHECK_NOTHROW(check_items(life, chunk, {1, 1}, 0));
  chunk.entries = {entry(1), entry(2)};
  CHECK_THROWS_AS(check_items(life, chunk, {1, 1}, 0), Violation);
  chunk.entries = {entry(1)};
  chunk.applied = 1;
  CHECK_THROWS_AS(check_items(life, chunk, {1, 1}, 0), Violation);
}

TEST_CASE("items: what a journal gives back is what was appended, and no less than what was promised") {
  const auto life = small_life_of_items(LifeItems::Journal::always);
  ItemHistories histories(life);
  histories.begin(1, {0, 0});
  histories.of(1).chunks[0].entries = {entry(0), entry(1)};
  histories.apply_next(1, 0);
  const auto record = [](ItemId item, Version version) {
    JournalRecord made;
    made.item = item;
    made.version = version;
    made.payload = entry(item).payload;
    return made;
  };
  const Journal journal;
  CHECK_NOTHROW(check_recovered(life, histories, kLane, 0, journal, {record(0, 0)}));
  CHECK_NOTHROW(check_recovered(life, histories, kLane, 0, journal, {record(0, 0), record(1, 1)}));
  CHECK_THROWS_AS(check_recovered(life, histories, kLane, 0, journal, {record(1, 0)}), Violation);
  CHECK_THROWS_AS(check_recovered(life, histories, kLane, 0, journal, {}), Violation);
  histories.of(1).lossy.insert(0);
  CHECK_NOTHROW(check_recovered(life, histories, kLane, 0, journal, {}));
}

TEST_CASE("items: a job with a journal goes back only if a shard has lost something or cannot go on") {
  const auto life = small_life_of_items(LifeItems::Journal::always);
  auto disks = served_disks();
  disks.present[0].journal.timeline = 1;
  disks.present[1].journal.timeline = 1;
  ItemHistories histories(life);
  Rollbacks rollbacks(life);
  rollbacks.timeline_begins(histories, disks);
  histories.begin(1, {0, 0});
  CHECK_THROWS_AS(rollbacks.timeline_begins(histories, disks), Violation);
  rollbacks.cannot_resume();
  CHECK_NOTHROW(rollbacks.timeline_begins(histories, disks));
  histories.of(1).lossy.insert(1);
  CHECK_NOTHROW(rollbacks.timeline_begins(histories, disks));
}

TEST_CASE("a rollback is counted once, for a timeline of which work was given out") {
  RollbackCountsJudge judge;
  StoredLedger first;
  first.ledger.timeline = 1;
  first.ledger.complete = {{0, 0}};
  auto second = first;
  second.ledger.timeline = 2;
  auto counted = second;
  counted.ledger.rollbacks.mark = 1;
  CHECK_NOTHROW(judge.ledger_durable({}, first, false));
  CHECK_NOTHROW(judge.ledger_durable(first.ledger, second, false));
  CHECK_THROWS_AS(judge.ledger_durable(first.ledger, counted, false), Violation);
  Assign assign;
  assign.timeline = 1;
  judge.assigned(assign, 0);
  assign.evaluation.emplace();
  judge.assigned(assign, 0);  // to train nothing
  CHECK_THROWS_AS(judge.ledger_durable(first.ledger, counted, false), Violation);
  assign.rounds.standing = {0, 5, {0, 1}};
  judge.assigned(assign, 0);
  CHECK_NOTHROW(judge.ledger_durable(first.ledger, counted, false));
  CHECK(judge.facts().has(Fact::rollback_for_mark));
  CHECK_THROWS_AS(judge.ledger_durable(first.ledger, second, false), Violation);
  judge.lead_starts();
  CHECK_NOTHROW(judge.ledger_durable(first.ledger, second, false));  // nobody knows
  auto trained = first;
  trained.statistics = {{0, 1, 1, 1}};
  judge.ledger_durable(first.ledger, trained, false);
  CHECK_THROWS_AS(judge.ledger_durable(trained.ledger, second, false), Violation);
  counted.ledger.rollbacks.mark = 2;
  CHECK_THROWS_AS(judge.ledger_durable(first.ledger, counted, false), Violation);
}

}  // namespace
}  // namespace ballast::simulation
