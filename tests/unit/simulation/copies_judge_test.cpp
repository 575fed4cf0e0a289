// The copies of snapshots in another place, by the judge alone.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/simulation/judge/copies.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;

constexpr RunId kRun = 9;
constexpr SnapshotId kNone;
constexpr SnapshotId kOlder{1, 2};
constexpr SnapshotId kNewer{1, 4};
constexpr Micros kFaultsUntil = 1'000'000;
constexpr Micros kNamedAt = 1'000;
// By a clock at twice the time's rate, with the writing of the ledger.
constexpr Micros kPatienceLeft = kNamedAt + 491'000;

LifeSpec life_of_copies() {
  auto life = small_life();
  life.copies = true;
  life.copy_patience = 1'000'000;
  life.storage_high = 3'000;
  life.faults.until = kFaultsUntil;
  return life;
}

// A job whose first ledger is durable, with two snapshots.
struct CopiedJob {
  LifeSpec life;
  Disks disks{2};
  CopyPlace place{life};
  CopiesJudge judge{life};
  Ledger durable;

  explicit CopiedJob(const LifeSpec& life_of_it = life_of_copies()) : life(life_of_it) {
    for (const auto id : {kOlder, kNewer}) {
      disks.present[0].write(id, 0, {5, id.step});
    }
    disks.present[0].sync();
    write(ledger_of(kNone, kNone), 0);
  }
  [[nodiscard]] Ledger ledger_of(SnapshotId named, SnapshotId complete, RunId run = kRun) const {
    Ledger ledger = durable;
    ledger.timeline = std::max<Timeline>(ledger.timeline, 1);
    ledger.complete = {kOlder, kNewer};
    ledger.copies.run = run;
    ledger.copies.named = named;
    ledger.copies.complete = complete;
    return ledger;
  }
  void write(const Ledger& ledger, Micros now = kNamedAt) {
    judge.ledger_durable(disks, place, durable, ledger, now);
    durable = ledger;
  }
  void put(SnapshotId id) {
    place.put(kRun, id, 0, {{0, {5, id.step}}});
    place.put(kRun, id, 1, {});
  }
  // Named and copied.
  void copy(SnapshotId id) {
    write(ledger_of(id, durable.copies.complete));
    put(id);
    write(ledger_of(id, id));
  }
};

TEST_CASE("copies: a run has one id, unless another job takes its name") {
  CopiedJob job;
  const auto id = Contains("a run has no id, or another one than before");
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kNone, kNone, 0)), id, Violation);
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kNone, kNone, 10)), id, Violation);
  job.copy(kNewer);
  job.place.take(kRun);
  CHECK_NOTHROW(job.write(job.ledger_of(kNewer, kNewer)));
  CHECK_FALSE(job.judge.facts().has(Fact::copies_renamed));
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kNewer, 10)), Contains("called copied that was not named"),
                       Violation);
  CHECK_NOTHROW(job.write(job.ledger_of(kOlder, kNone, 10)));
  CHECK(job.judge.facts().has(Fact::copies_renamed));
  job.place.take(10);
  job.place.take(11);
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kNone, kNone, 11)), Contains("a run takes a name that is another job's"),
                       Violation);
}

TEST_CASE("copies: only snapshots that are kept are copied, and of those the newest stays") {
  CopiedJob job;
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of({1, 3}, kNone)), Contains("a snapshot is to be copied that is not kept"),
                       Violation);
  job.copy(kOlder);
  auto ledger = job.ledger_of(kNewer, kOlder);
  ledger.complete = {kNewer};
  CHECK_THROWS_WITH_AS(job.write(ledger), Contains("the newest snapshot that is copied is not kept"), Violation);
  CHECK_NOTHROW(job.write(job.ledger_of(kNewer, kOlder)));
}

TEST_CASE("copies: a job without them names none") {
  auto life = life_of_copies();
  life.copies = false;
  CopiedJob job(life);
  CHECK_NOTHROW(job.write(job.ledger_of(kNone, kNone)));
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kNone)),
                       Contains("a job without copies names a snapshot for copying"), Violation);
}

TEST_CASE("copies: what is called copied was named before, and is newer than what was copied") {
  const auto not_named = Contains("a snapshot is called copied that was not named");
  CopiedJob job;
  job.put(kOlder);
  job.put(kNewer);
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kOlder)), not_named, Violation);
  job.write(job.ledger_of(kOlder, kNone));
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kNewer)), not_named, Violation);
  CHECK_NOTHROW(job.write(job.ledger_of(kOlder, kOlder)));
  job.durable.copies.complete = kNewer;
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kOlder)), not_named, Violation);
}

TEST_CASE("copies: every part of a copy is in the place") {
  const auto missing = Contains("a snapshot is called copied, but a part of it is not in the place");
  CopiedJob job;
  job.write(job.ledger_of(kOlder, kNone));
  const auto copied = job.ledger_of(kOlder, kOlder);
  CHECK_THROWS_WITH_AS(job.write(copied), missing, Violation);
  job.place.put(kRun, kOlder, 1, {});
  CHECK_THROWS_WITH_AS(job.write(copied), missing, Violation);
  job.place.put(kRun, kOlder, 0, {});
  CHECK_THROWS_WITH_AS(job.write(copied), missing, Violation);
  CHECK_FALSE(job.judge.facts().has(Fact::copied));
  job.put(kOlder);
  CHECK_NOTHROW(job.write(copied));
  CHECK(job.judge.facts().has(Fact::copied));
}

TEST_CASE("copies: a copy is that of what the shard has, which is durable") {
  const auto differs = Contains("a copy differs from what it is the copy of");
  CopiedJob job;
  job.write(job.ledger_of(kOlder, kNone));
  job.put(kOlder);
  const auto copied = job.ledger_of(kOlder, kOlder);
  job.disks.present[0].write(kOlder, 0, {5, 2});
  CHECK_THROWS_WITH_AS(job.write(copied), differs, Violation);
  job.disks.present[0].write(kOlder, 0, {5, 3});
  job.disks.present[0].sync();
  CHECK_THROWS_WITH_AS(job.write(copied), differs, Violation);
  job.disks.present[0].write(kOlder, 0, {5, 2});
  job.disks.present[0].sync();
  CHECK_NOTHROW(job.write(copied));
}

TEST_CASE("copies: what is named is given up for a newer one, when patience may be over") {
  const auto for_older = Contains("a snapshot is given up for an older one, or for none");
  const auto too_early = Contains("a snapshot that is to be copied is given up too early");
  CopiedJob job;
  job.write(job.ledger_of(kNewer, kNone));
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kNone), kPatienceLeft + 1), for_older, Violation);
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kNone, kNone), kPatienceLeft + 1), for_older, Violation);

  CopiedJob patient;
  patient.write(patient.ledger_of(kOlder, kNone));
  CHECK_THROWS_WITH_AS(patient.write(patient.ledger_of(kNewer, kNone), kPatienceLeft), too_early, Violation);
  CHECK_NOTHROW(patient.write(patient.ledger_of(kOlder, kNone), kPatienceLeft + 1));  // is still named
  CHECK_FALSE(patient.judge.facts().has(Fact::copy_dropped));
  CHECK_NOTHROW(patient.write(patient.ledger_of(kNewer, kNone), kPatienceLeft + 1));
  CHECK(patient.judge.facts().has(Fact::copy_dropped));
}

TEST_CASE("copies: what is named after all faults and what they leave behind is copied, but by a shard that is stuck") {
  const auto too_early = Contains("a snapshot that is to be copied is given up too early");
  const auto give_up = [](const LifeSpec& life) {
    CopiedJob job(life);
    job.write(job.ledger_of(kOlder, kNone), kFaultsUntil + 2'000);
    job.write(job.ledger_of(kNewer, kNone), 2 * kFaultsUntil);
  };
  CHECK_THROWS_WITH_AS(give_up(life_of_copies()), too_early, Violation);
  using Longest = Micros Faults::*;
  for (const Longest longest : {&Faults::shard_pause, &Faults::lead_pause, &Faults::cut, &Faults::away}) {
    auto life = life_of_copies();
    life.faults.*longest = 1'999;
    CHECK_THROWS_WITH_AS(give_up(life), too_early, Violation);
    life.faults.*longest = 2'000;
    CHECK_NOTHROW(give_up(life));
  }
  auto lost = life_of_copies();
  lost.faults.lost_volume = 0.6;
  CHECK_NOTHROW(give_up(lost));
  auto stuck = life_of_copies();
  stuck.faults.copy_stuck = true;
  CHECK_NOTHROW(give_up(stuck));
  auto dead = life_of_copies();
  dead.faults.death = true;
  CHECK_NOTHROW(give_up(dead));
}

TEST_CASE("copies: no older snapshot is named again") {
  CopiedJob job;
  job.copy(kNewer);
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kNewer)),
                       Contains("an older snapshot is named for copying again"), Violation);
  CHECK_NOTHROW(job.write(job.ledger_of(kNone, kNewer)));
  CHECK_THROWS_WITH_AS(job.write(job.ledger_of(kOlder, kNewer)),
                       Contains("an older snapshot is named for copying again"), Violation);
}

TEST_CASE("copies: one may be finished in a later timeline than it was named in") {
  CopiedJob job;
  job.copy(kOlder);
  CHECK_FALSE(job.judge.facts().has(Fact::copy_outlived));
  job.write(job.ledger_of(kNewer, kOlder));
  job.durable.timeline = 2;
  job.put(kNewer);
  CHECK_NOTHROW(job.write(job.ledger_of(kNewer, kNewer)));
  CHECK(job.judge.facts().has(Fact::copy_outlived));
}

TEST_CASE("copies: what is copied and what is being copied stay in the place") {
  CopiedJob job;
  job.copy(kOlder);
  job.write(job.ledger_of(kNewer, kOlder));
  CHECK_THROWS_WITH_AS(job.judge.removes(job.durable, kRun, kOlder),
                       Contains("the newest snapshot that is copied is removed from the place"), Violation);
  CHECK_THROWS_WITH_AS(job.judge.removes(job.durable, kRun, kNewer),
                       Contains("what is being copied is removed from the place"), Violation);
  CHECK_NOTHROW(job.judge.removes(job.durable, kRun, {1, 1}));
  CHECK_NOTHROW(job.judge.removes(job.durable, 8, kNewer));
}

TEST_CASE("copies: a job ends with the copy of its last snapshot, or when its patience may be over") {
  const auto before = Contains("the job ends before its last snapshot is copied");
  const auto finish = [](CopiedJob& job, Micros now) {
    auto ledger = job.durable;
    ledger.finished = kNewer;
    job.write(ledger, now);
  };
  CopiedJob job;
  job.copy(kOlder);
  job.write(job.ledger_of(kNewer, kOlder));
  auto late = job.durable;
  finish(job, kPatienceLeft);
  CHECK_THROWS_WITH_AS(job.judge.finished_well(job.place, job.durable), before, Violation);
  job.durable = late;
  finish(job, kPatienceLeft + 1);
  CHECK_NOTHROW(job.judge.finished_well(job.place, job.durable));
  job.write(job.durable, kNamedAt);  // what is written later does not change when it ended
  CHECK_NOTHROW(job.judge.finished_well(job.place, job.durable));

  CopiedJob copied;
  copied.copy(kNewer);
  finish(copied, kNamedAt);
  CHECK_NOTHROW(copied.judge.finished_well(copied.place, copied.durable));
  copied.place.remove(kRun, kNewer);
  copied.place.put(kRun, kNewer, 0, {{0, {5, 4}}});
  CHECK_THROWS_WITH_AS(copied.judge.finished_well(copied.place, copied.durable),
                       Contains("the job ends without the copy that it says to have"), Violation);
}

TEST_CASE("copies: a stop waits for the copy of its snapshot, as long as there is patience") {
  CopiedJob job;
  job.copy(kOlder);
  job.write(job.ledger_of(kNewer, kOlder));
  CHECK_THROWS_WITH_AS(job.judge.stopped_well(job.durable, kPatienceLeft),
                       Contains("a stop ends with patience left, and its snapshot is not copied"), Violation);
  CHECK_NOTHROW(job.judge.stopped_well(job.durable, kPatienceLeft + 1));
  job.put(kNewer);
  job.write(job.ledger_of(kNewer, kNewer));
  CHECK_NOTHROW(job.judge.stopped_well(job.durable, kPatienceLeft));
  CopiedJob untrained;
  auto ledger = untrained.durable;
  ledger.complete = {kNone};
  CHECK_NOTHROW(untrained.judge.stopped_well(ledger, 0));
}

}  // namespace
}  // namespace ballast::simulation
