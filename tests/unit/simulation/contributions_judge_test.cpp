// Single contributions in item mode, by the judge alone.
#include <doctest/doctest.h>

#include <vector>

#include "tests/simulation/judge/contributions.h"
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/reference.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;
using Journaled = LifeItems::Journal;

constexpr LaneLife kContributingLane{1, 0, 7, 1, {1, 1}};
constexpr LeadNumber kClock{1, 40};

// Chunk 0 has got so many items by now, in order, and applied them.
ItemHistories histories_of(const LifeSpec& life, ItemId items) {
  ItemHistories histories(life);
  histories.begin(1, {0, 0});
  for (ItemId item = 0; item < items; ++item) {
    ItemHistories::Entry entry;
    entry.item = item;
    entry.payload.value = 100 + item;
    histories.of(1).chunks[0].entries.push_back(entry);
    histories.apply_next(1, 0);
  }
  return histories;
}

// What a worker that was granted an item computes from; of chunk 0 the version.
std::vector<ItemBase> bases_of(const ItemHistories& histories, Version version) {
  std::vector<ItemBase> bases(2);
  bases[0] = {version, histories.value(1, 0, version).weights, kClock, {0, 7, 10}};
  bases[1] = {0, statistics_value(0).weights, kClock, {1, 8, 20}};
  return bases;
}

std::vector<JournalMark> marks_of(std::uint64_t first, std::uint64_t second) { return {{0, 7, first}, {1, 8, second}}; }

// The item's contribution to chunk 0, computed from its version `base` and accepted as the next one.
ItemUpdate update_of(ContributionsJudge& judge, const LifeSpec& life, const ItemHistories& histories, ItemId item,
                     Version base) {
  const auto version = histories.of(1).chunks[0].entries.size();
  const auto slot = static_cast<Slot>(item % life.slots);
  ItemUpdate update{kContributingLane, {0, item / life.slots, {slot, slot + 1}, {}, 3}, version, {}};
  update.held.payload = gradient(life, item / life.slots, slot, 0, 77);
  update.held.payload.timeline = 1;
  update.held.payload.origin = judge.computes(histories, item, {item, kClock}, bases_of(histories, base));
  update.factors = factors(version / life.slots, version);
  return update;
}

TEST_CASE("contributions: an item is computed for its grant, from weights that were asked for by it") {
  const auto life = small_life_of_items(Journaled::none);
  const auto histories = histories_of(life, 0);
  ContributionsJudge judge(life);
  CHECK(judge.computes(histories, 7, {7, kClock}, bases_of(histories, 0)) == 1);
  CHECK(judge.computes(histories, 6, {6, kClock}, bases_of(histories, 0)) == 2);
  CHECK_THROWS_WITH_AS(judge.computes(histories, 7, {6, kClock}, bases_of(histories, 0)),
                       Contains("item 7 is computed, which was not granted"), Violation);
  CHECK_THROWS_WITH_AS(judge.computes(histories, 8, {8, kClock}, bases_of(histories, 0)),
                       Contains("item 8 is computed, which was not granted"), Violation);
  auto bases = bases_of(histories, 0);
  bases[1] = {0, statistics_value(0).weights, {1, kClock.number - 1}, {1, 8, 20}};
  CHECK_THROWS_WITH_AS(
      judge.computes(histories, 7, {7, kClock}, bases),
      Contains("chunk 1, item 7 (step 3, slot 1): computed from weights that were not asked for by its grant"),
      Violation);
}

TEST_CASE("contributions: what is accepted is one slot's, of its timeline, and makes the next version") {
  const auto life = small_life_of_items(Journaled::none);
  const auto histories = histories_of(life, 2);
  ContributionsJudge judge(life);
  const auto update = update_of(judge, life, histories, 3, 2);
  CHECK_NOTHROW(judge.accepted(histories, update));

  auto slots = update;
  slots.held.payload.slots = 0x1;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, slots),
                       Contains("chunk 0, item 3 (step 1, slot 1): a contribution of other slots"), Violation);
  slots = update_of(judge, life, histories, 2, 2);
  slots.held.node.end = 2;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, slots), Contains("item 2 (step 1, slot 0): a contribution of other"),
                       Violation);
  auto timeline = update;
  timeline.held.payload.timeline = 2;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, timeline), Contains("a contribution of another timeline is counted"),
                       Violation);
  auto turn = update;
  turn.version = 1;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, turn), Contains("becomes version 2, after version 2"), Violation);
  turn.version = 3;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, turn), Contains("becomes version 4, after version 2"), Violation);
}

TEST_CASE("contributions: an item is counted once, and not before the cut") {
  auto life = small_life_of_items(Journaled::none);
  life.snapshot_every = 2;
  auto histories = histories_of(life, 2);
  ContributionsJudge judge(life);
  CHECK_THROWS_WITH_AS(judge.accepted(histories, update_of(judge, life, histories, 1, 2)),
                       Contains("chunk 0, item 1 (step 0, slot 1): counted twice"), Violation);
  CHECK_NOTHROW(judge.accepted(histories, update_of(judge, life, histories, 3, 2)));
  const auto update = update_of(judge, life, histories, 4, 2);
  CHECK_THROWS_WITH_AS(judge.accepted(histories, update),
                       Contains("chunk 0, item 4 (step 2, slot 0): counted before everything up to step 2 is there"),
                       Violation);
  histories.of(1).furthest = 2;
  CHECK_NOTHROW(judge.accepted(histories, update));
}

TEST_CASE("contributions: a gradient has an origin, which is its item's") {
  const auto life = small_life_of_items(Journaled::none);
  const auto histories = histories_of(life, 0);
  ContributionsJudge judge(life);
  auto update = update_of(judge, life, histories, 0, 0);
  CHECK_NOTHROW(judge.accepted(histories, update));
  update.held.payload.origin = 0;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, update), Contains("a gradient bears another item's name"), Violation);
  update.held.payload.origin = judge.computes(histories, 1, {1, kClock}, bases_of(histories, 0));
  CHECK_THROWS_WITH_AS(judge.accepted(histories, update), Contains("a gradient bears another item's name"), Violation);
}

TEST_CASE("contributions: what is accepted is not staler than the bound, nor from the future") {
  auto life = small_life_of_items(Journaled::none);
  life.items->bound = 2;
  const auto histories = histories_of(life, 3);
  ContributionsJudge judge(life);
  CHECK_NOTHROW(judge.accepted(histories, update_of(judge, life, histories, 3, 1)));
  const auto stale = update_of(judge, life, histories, 3, 0);
  CHECK_THROWS_WITH_AS(judge.accepted(histories, stale),
                       Contains("chunk 0, item 3 (step 1, slot 1): 3 updates stale, above the bound of 2"), Violation);
  life.items->bound = 0;
  CHECK_NOTHROW(judge.accepted(histories, stale));
  auto bases = bases_of(histories, 3);
  bases[0].version = 4;
  auto future = stale;
  future.held.payload.origin = judge.computes(histories, 3, {3, kClock}, bases);
  CHECK_THROWS_WITH_AS(judge.accepted(histories, future), Contains("computed from version 4, which is still to come"),
                       Violation);
}

TEST_CASE("contributions: an update has its version's factors, damped by its staleness if the job says so") {
  auto life = small_life_of_items(Journaled::none);
  const auto histories = histories_of(life, 3);
  ContributionsJudge judge(life);
  const auto others = Contains("chunk 0, item 3 (step 1, slot 1): other factors than those of version 3");
  auto update = update_of(judge, life, histories, 3, 0);
  CHECK_NOTHROW(judge.accepted(histories, update));
  auto fresh = update_of(judge, life, histories, 3, 3);
  life.items->damped = true;
  CHECK_NOTHROW(judge.accepted(histories, fresh));
  CHECK_THROWS_WITH_AS(judge.accepted(histories, update), others, Violation);
  update.factors.learning_rate /= 3;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, update), others, Violation);
  update.factors.step_size /= 3;
  CHECK_NOTHROW(judge.accepted(histories, update));
  life.items->damped = false;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, update), others, Violation);
}

TEST_CASE("contributions: an update is left out if its gradient is not finite, in a job that skips") {
  auto life = small_life_of_items(Journaled::none);
  life.non_finite_gradients = {{0, 0, 1}};
  const auto histories = histories_of(life, 0);
  ContributionsJudge judge(life);
  auto broken = update_of(judge, life, histories, 1, 0);
  auto sound = update_of(judge, life, histories, 0, 0);
  CHECK_THROWS_WITH_AS(judge.accepted(histories, broken), Contains("other factors than those of version 0"), Violation);
  broken.factors.skip = true;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, broken), Contains("an update is left out, in a job that halts"),
                       Violation);
  judge.resumes_with(NonFinite::skip);
  CHECK_NOTHROW(judge.accepted(histories, broken));
  CHECK_NOTHROW(judge.accepted(histories, sound));
  CHECK(judge.counts(kContributingLane.process).staleness.skipped == 1);
  sound.factors.skip = true;
  CHECK_THROWS_WITH_AS(judge.accepted(histories, sound), Contains("other factors than those of version 0"), Violation);
  life.non_finite = NonFinite::skip;
  ContributionsJudge skips(life);
  broken = update_of(skips, life, histories, 1, 0);
  broken.factors.skip = true;
  CHECK_NOTHROW(skips.accepted(histories, broken));
}

lane::Append append_of(const ItemUpdate& update, ItemId item, std::uint64_t staleness) {
  lane::Append action;
  action.chunk = update.held.chunk;
  action.item = item;
  action.version = update.version;
  action.staleness = staleness;
  action.marks = marks_of(10, 20);
  return action;
}

TEST_CASE("contributions: an update is appended as what it is") {
  const auto life = small_life_of_items(Journaled::always);
  const auto histories = histories_of(life, 2);
  ContributionsJudge judge(life);
  const auto update = update_of(judge, life, histories, 3, 1);
  const auto right = append_of(update, 3, 1);
  CHECK_NOTHROW(judge.appended(histories, update, right));
  const auto name = Contains("an update is appended under another name");
  auto wrong = right;
  wrong.item = 2;
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, wrong), name, Violation);
  wrong = right;
  wrong.version = 3;
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, wrong), name, Violation);
  wrong = right;
  wrong.chunk = 1;
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, wrong), name, Violation);
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, append_of(update, 3, 0)),
                       Contains("an update is appended with another staleness than its own"), Violation);
  auto twice = update;
  twice.held.payload.slots = 0x20;
  CHECK_THROWS_WITH_AS(judge.appended(histories, twice, right), Contains("a contribution of other slots"), Violation);
}

TEST_CASE("contributions: one that is appended tells all that it rests on") {
  const auto life = small_life_of_items(Journaled::always);
  const auto histories = histories_of(life, 0);
  ContributionsJudge judge(life);
  const auto update = update_of(judge, life, histories, 0, 0);
  auto action = append_of(update, 0, 0);
  action.marks = marks_of(10, 21);
  CHECK_NOTHROW(judge.appended(histories, update, action));
  const auto untold = Contains(
      "chunk 0, item 0 (step 0, slot 0): does not tell that it was computed from what shard 1 had committed up to 20");
  action.marks = marks_of(10, 19);
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, action), untold, Violation);
  action.marks = {{0, 7, 10}, {1, 7, 20}};
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, action), untold, Violation);
  action.marks = {{0, 7, 10}, {0, 8, 20}};
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, action), untold, Violation);
  action.marks = {};
  CHECK_THROWS_WITH_AS(judge.appended(histories, update, action), Contains("what shard 0 had committed up to 10"),
                       Violation);
}

TEST_CASE("contributions: of a lane's life the staleness and the newest marks are counted") {
  const auto life = small_life_of_items(Journaled::always);
  auto histories = histories_of(life, 3);
  ContributionsJudge judge(life);
  for (const Version staleness : {1, 0}) {
    const auto update = update_of(judge, life, histories, 3, 3 - staleness);
    auto action = append_of(update, 3, staleness);
    action.marks = marks_of(10 + staleness, 20);
    judge.appended(histories, update, action);
  }
  CHECK_FALSE(judge.facts().has(Fact::two_stale));
  for (const Version staleness : {2, 3}) {
    const auto update = update_of(judge, life, histories, 3, 3 - staleness);
    judge.appended(histories, update, append_of(update, 3, staleness));
    CHECK(judge.facts().has(Fact::two_stale));
  }
  const auto counted = judge.counts(kContributingLane.process);
  CHECK(counted.staleness == StalenessCounts{{1, 1, 2}, 6, 3, 0, 0});
  CHECK(counted.marks == decltype(counted.marks){{{0, 7}, 11}, {{1, 8}, 20}});
  CHECK(judge.counts(2).staleness == StalenessCounts{});
  judge.lane_begins(kContributingLane.process);
  CHECK(judge.counts(kContributingLane.process).marks.empty());
  judge.note_marks(kContributingLane.process, {{1, 8, 5}});
  CHECK(judge.counts(kContributingLane.process).marks.at({1, 8}) == 5);
}

TEST_CASE("contributions: one is refused for good if its shard has lost what it was computed from") {
  for (const auto journal : {Journaled::none, Journaled::always}) {
    const auto life = small_life_of_items(journal);
    const auto histories = histories_of(life, 4);
    const ContributionsJudge judge(life);
    Receipt receipt;
    receipt.step = 2;
    receipt.node = {1, 2};
    if (journal == Journaled::always) {
      CHECK_NOTHROW(judge.expired(histories, 1, receipt, 5));
    } else {
      CHECK_THROWS_AS(judge.expired(histories, 1, receipt, 5), Violation);
    }
    CHECK_THROWS_AS(judge.expired(histories, 1, receipt, 4), Violation);
    receipt.step = 1;
    CHECK_THROWS_WITH_AS(judge.expired(histories, 1, receipt, 5),
                         Contains("chunk 0, item 3 (step 1, slot 1): refused for good, but the chunk has it"),
                         Violation);
  }
}

TEST_CASE("contributions: one is refused as too stale only if it is") {
  auto life = small_life_of_items(Journaled::none);
  life.items->bound = 2;
  const auto histories = histories_of(life, 4);
  const ContributionsJudge judge(life);
  Receipt receipt;
  receipt.step = 2;
  receipt.node = {1, 2};
  const auto allowed = Contains("chunk 0, item 5 (step 2, slot 1): refused as too stale, but the bound allows it");
  CHECK_NOTHROW(judge.expired(histories, 1, receipt, 1));
  CHECK_THROWS_WITH_AS(judge.expired(histories, 1, receipt, 2), allowed, Violation);
  CHECK_THROWS_WITH_AS(judge.expired(histories, 1, receipt, 5), allowed, Violation);
  receipt.chunk = 1;
  CHECK_THROWS_WITH_AS(judge.expired(histories, 1, receipt, 0), Contains("chunk 1, item 5"), Violation);
  receipt.chunk = 0;
  life.items->bound = 0;
  CHECK_THROWS_WITH_AS(judge.expired(histories, 1, receipt, 0), allowed, Violation);
}

TEST_CASE("contributions: nothing that one in a snapshot was computed from is forgotten") {
  const auto life = small_life_of_items(Journaled::always);
  const auto histories = histories_of(life, 3);
  ContributionsJudge judge(life);
  ItemHistories::Entry entry;
  entry.item = 3;
  const auto computed_from = [&](const std::vector<ItemBase>& bases) {
    entry.payload.origin = judge.computes(histories, 3, {3, kClock}, bases);
  };
  computed_from(bases_of(histories, 2));
  CHECK_NOTHROW(judge.check_lineage(histories, {1, 1}, entry, 0));
  computed_from(bases_of(histories, 3));
  CHECK_THROWS_WITH_AS(
      judge.check_lineage(histories, {1, 1}, entry, 0),
      Contains("chunk 0, item 3 (step 1, slot 1): survives in the snapshot of step 1, but was computed "
               "from version 3 of chunk 0, which was forgotten"),
      Violation);
  auto bases = bases_of(histories, 2);
  ++bases[0].weights;
  computed_from(bases);
  CHECK_THROWS_WITH_AS(judge.check_lineage(histories, {1, 1}, entry, 0), Contains("version 2 of chunk 0"), Violation);
  bases = bases_of(histories, 2);
  ++bases[1].weights;
  computed_from(bases);
  CHECK_THROWS_WITH_AS(judge.check_lineage(histories, {1, 1}, entry, 0), Contains("version 0 of chunk 1"), Violation);
}

}  // namespace
}  // namespace ballast::simulation
