#include "protocol/lead/snapshot_view.h"

#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/reports.h"

using namespace ballast;
using namespace ballast::reports;

namespace {

constexpr LearntDeadline::Bounds kLateSnapshot{100, 1'000, 10'000};

struct Seen {
  Seen(Course of_course, const std::vector<LaneReport>& reports)
      : course(std::move(of_course)), shards(roster(reports)) {
    observe(course, shards, 0);
  }
  [[nodiscard]] SnapshotView view() const { return {shards, course, kTimeline}; }

  Course course;
  ShardRoster shards;
};

Course rounds_view() {
  SlotShares::Rules shares;
  shares.step.slots = 2;
  shares.late = kLateSnapshot.initial;
  return Course(RoundCourse::Rules{20, shares});
}

LaneReport holding(LaneReport report, std::vector<SnapshotId> held, std::vector<SnapshotId> writing = {}) {
  report.held = std::move(held);
  report.writing = std::move(writing);
  return report;
}

}  // namespace

TEST_CASE("held by all is what each lane holds of the timeline") {
  const Seen seen(rounds_view(),
                  {holding(at_step(6), {{0, 2}, {1, 3}, {1, 4}}), holding(at_step(6), {{0, 2}, {1, 4}})});
  CHECK(seen.view().held_by_all() == std::set<SnapshotId>{{1, 4}});
}

TEST_CASE("a snapshot is missed when a lane has gone beyond its step without taking it") {
  const Seen seen(rounds_view(), {holding(at_step(6), {{1, 3}}, {{1, 5}}), at_step(4)});
  CHECK(seen.view().why_missed(4) == "");
  CHECK(seen.view().why_missed(3) == "");  // the other lane is past it as well
  CHECK_FALSE(seen.view().why_missed(5));
  CHECK_FALSE(seen.view().why_missed(6));
}

TEST_CASE("a snapshot that a shard could not write is missed with its reason") {
  auto full = at_step(4);
  full.failed = {{1, 4}};
  full.trouble = "no space left";
  const Seen seen(rounds_view(), {at_step(4), full});
  CHECK(seen.view().why_missed(4) == "shard 1: no space left");
}

TEST_CASE("the newest snapshots are kept, the best, and those that copies need") {
  Ledger ledger;
  ledger.complete = {{0, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}};
  ledger.best = SnapshotId{1, 1};
  ledger.copies.named = {1, 3};
  forget_superseded(ledger, 1);
  CHECK(ledger.complete == std::vector<SnapshotId>{{1, 1}, {1, 3}, {1, 5}});
  ledger.copies = {};
  forget_superseded(ledger, 2);
  CHECK(ledger.complete == std::vector<SnapshotId>{{1, 1}, {1, 3}, {1, 5}});
  forget_superseded(ledger, 1);
  CHECK(ledger.complete == std::vector<SnapshotId>{{1, 1}, {1, 5}});
}
