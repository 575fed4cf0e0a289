// Cuts as facts of the ledger, by the judge alone.
#include <doctest/doctest.h>

#include "tests/simulation/judge/cuts.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;

// Both chunks have come to step 1, two items, and are synced with them; the ledger names the base.
struct CutJob {
  explicit CutJob(bool lies = false) : life(small_life_of_items(LifeItems::Journal::interval)) {
    life.faults.lying_disk = lies;
    histories.begin(1, {0, 0});
    for (auto& chunk : histories.of(1).chunks) {
      chunk.entries = {entry(0, 1), entry(1, 2)};
    }
    for (auto& disk : disks.present) {
      disk.journal.timeline = 1;
      disk.journal.synced = 2;
    }
    ledger.timeline = 1;
    ledger.cut = 0;
    judge.ledger_durable(histories, disks, ledger);
  }
  static ItemHistories::Entry entry(ItemId item, std::uint64_t sequence) {
    ItemHistories::Entry entry;
    entry.item = item;
    entry.sequence = sequence;
    return entry;
  }
  void come_to(Step cut, std::vector<Step> kept = {}) {
    ledger.cut = cut;
    ledger.kept = std::move(kept);
    judge.ledger_durable(histories, disks, ledger);
  }

  LifeSpec life;
  ItemHistories histories{life};
  Disks disks{2};
  Ledger ledger;
  CutsJudge judge{life};
};

LaneReport covering(ItemId floor) {
  LaneReport report;
  report.timeline = 1;
  report.serving = true;
  report.items.covered = {{0, floor}};
  return report;
}

TEST_CASE("cuts: where the ledger names one each chunk has exactly the items before it") {
  CHECK_NOTHROW(CutJob().come_to(1));
  const auto others = Contains("has others than the items before it");
  CutJob more;
  more.histories.of(1).chunks[0].entries.push_back(CutJob::entry(2, 3));
  CHECK_THROWS_WITH_AS(more.come_to(1), others, Violation);
  CutJob fewer;
  fewer.histories.of(1).chunks[1].entries.pop_back();
  CHECK_THROWS_WITH_AS(fewer.come_to(1), others, Violation);
  CutJob other;
  other.histories.of(1).chunks[1].entries[1].item = 3;
  CHECK_THROWS_WITH_AS(other.come_to(1), others, Violation);
}

TEST_CASE("cuts: what lies before one is synced, as far as the disk says so") {
  CutJob job;
  job.disks.present[1].journal.synced = 1;
  CHECK_THROWS_WITH_AS(job.come_to(1), Contains("has items that are not synced"), Violation);
  CutJob lying(true);
  lying.disks.present[1].journal.synced = 1;
  CHECK_NOTHROW(lying.come_to(1));
}

TEST_CASE("cuts: none is taken back within a timeline, and each is from the base on") {
  CutJob job;
  job.come_to(1);
  CHECK_THROWS_WITH_AS(job.come_to(0), Contains("a cut is taken back"), Violation);
  CutJob unnamed;
  unnamed.ledger.cut.reset();
  CHECK_THROWS_WITH_AS(unnamed.judge.ledger_durable(unnamed.histories, unnamed.disks, unnamed.ledger),
                       Contains("no cut from the base on"), Violation);
  CutJob next;
  next.come_to(1);
  next.ledger.timeline = 2;
  CHECK_NOTHROW(next.come_to(0));
}

TEST_CASE("cuts: a shard comes back with less than one only from a disk that lies") {
  CutJob job;
  job.ledger.rollbacks.below_cut = 1;
  CHECK_THROWS_WITH_AS(job.come_to(1), Contains("no disk lies"), Violation);
  CutJob lying(true);
  lying.ledger.rollbacks.below_cut = 1;
  CHECK_NOTHROW(lying.come_to(1));
}

TEST_CASE("cuts: a snapshot is taken if a durable ledger has ordered it, of a cut") {
  CutJob job;
  CHECK_THROWS_WITH_AS(job.judge.taken({1, 1}), Contains("no durable ledger has ordered"), Violation);
  job.come_to(1, {1});
  CHECK_NOTHROW(job.judge.taken({1, 1}));
  CutJob early;
  CHECK_THROWS_WITH_AS(early.come_to(0, {1}), Contains("of a step that is no cut yet"), Violation);
}

TEST_CASE("cuts: no lane serves with less than the newest") {
  CutJob job;
  job.come_to(1);
  CHECK_NOTHROW(job.judge.reported({}, covering(2)));
  CHECK_THROWS_WITH_AS(job.judge.reported({}, covering(1)), Contains("has lost some of those before step 1"),
                       Violation);
  auto waits = covering(1);
  waits.serving = false;
  CHECK_NOTHROW(job.judge.reported({}, waits));
  auto older = covering(1);
  older.timeline = 7;
  CHECK_NOTHROW(job.judge.reported({}, older));
}

TEST_CASE("cuts: while one is recorded no plan goes beyond it, and a life that comes back is told it") {
  CutJob job;
  auto given = job.ledger;
  given.cut = 1;
  job.judge.ledger_given(given);
  Plan plan;
  plan.timeline = 1;
  plan.until = 2;
  CHECK_NOTHROW(job.judge.planned(plan));
  plan.until = 3;
  CHECK_THROWS_WITH_AS(job.judge.planned(plan), Contains("beyond a cut that is being recorded"), Violation);
  Confirm confirm{1, 1, {}, true, 0};
  CHECK_THROWS_WITH_AS(job.judge.confirmed(confirm), Contains("an older cut than the newest"), Violation);
  confirm.cut = 1;
  CHECK_NOTHROW(job.judge.confirmed(confirm));
  auto died = job;
  died.judge.lead_starts();
  CHECK_NOTHROW(died.judge.planned(plan));
  job.come_to(1);
  CHECK_NOTHROW(job.judge.planned(plan));
}

}  // namespace
}  // namespace ballast::simulation
