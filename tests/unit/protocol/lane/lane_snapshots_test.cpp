#include "protocol/lane/lane_snapshots.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

using Ids = std::vector<SnapshotId>;

LaneSnapshots on_timeline(Timeline timeline, Ids stored = {}) { return {timeline, std::move(stored)}; }

LaneReport told(const LaneSnapshots& snapshots) {
  LaneReport report;
  snapshots.tell(report);
  return report;
}

// Written, and not yet durable.
void write(LaneSnapshots& snapshots, Step step) {
  snapshots.order(step, 1);
  snapshots.take(step);
}

}  // namespace

TEST_CASE("an order is due until the last chunk is taken, and is taken once") {
  auto snapshots = on_timeline(2);
  CHECK(snapshots.order(5, 2));
  CHECK_FALSE(snapshots.order(5, 2));
  CHECK(snapshots.is_due(5));
  CHECK_FALSE(snapshots.is_due(6));
  CHECK_FALSE(snapshots.take(5));
  CHECK(told(snapshots).writing == Ids{{2, 5}});
  CHECK(snapshots.take(5));
  CHECK_FALSE(snapshots.is_due(5));
  CHECK(told(snapshots).writing == Ids{{2, 5}});
  CHECK_FALSE(snapshots.order(5, 2));
}

TEST_CASE("a lane without chunks has nothing to wait for") {
  auto snapshots = on_timeline(1);
  CHECK(snapshots.order(3, 0));
  CHECK_FALSE(snapshots.is_due(3));
  CHECK(snapshots.durable({1, 3}));
}

TEST_CASE("a durable one is held until a newer one is complete, and stored until it may be deleted") {
  auto snapshots = on_timeline(2, {{1, 4}, {1, 8}});
  write(snapshots, 6);
  write(snapshots, 9);
  CHECK(snapshots.durable({2, 6}));
  CHECK_FALSE(snapshots.durable({2, 6}));
  CHECK(snapshots.durable({2, 9}));
  CHECK_FALSE(snapshots.order(6, 1));
  CHECK(told(snapshots).held == Ids{{2, 6}, {2, 9}});
  CHECK(snapshots.stored(9) == Ids{{1, 4}, {1, 8}, {2, 6}, {2, 9}});
  CHECK(snapshots.stored(1) == Ids{{2, 9}});

  CHECK(snapshots.keep({{1, 4}, {2, 6}}));
  CHECK(told(snapshots).held == Ids{{2, 9}});
  CHECK(snapshots.stored(9) == Ids{{1, 4}, {2, 6}, {2, 9}});
  CHECK_FALSE(snapshots.keep({{1, 4}}));
  CHECK_FALSE(snapshots.keep({}));
  CHECK_FALSE(snapshots.order(6, 1));
  CHECK_FALSE(snapshots.order(5, 1));
}

TEST_CASE("one that could not be written is told, is not tried again, and the next one ends the trouble") {
  auto snapshots = on_timeline(1);
  for (Step step = 1; step <= 5; ++step) {
    write(snapshots, step);
    CHECK(snapshots.failed({1, step}, "no space"));
  }
  CHECK_FALSE(snapshots.failed({1, 5}, "again"));
  CHECK(snapshots.trouble() == "no space");
  CHECK(told(snapshots).failed == Ids{{1, 2}, {1, 3}, {1, 4}, {1, 5}});
  CHECK_FALSE(snapshots.order(5, 1));
  write(snapshots, 6);
  snapshots.durable({1, 6});
  CHECK(snapshots.trouble().empty());
}

TEST_CASE("with another timeline what was due or being written is over, and what is durable stays") {
  auto snapshots = on_timeline(1);
  write(snapshots, 1);
  snapshots.durable({1, 1});
  write(snapshots, 2);
  write(snapshots, 3);
  snapshots.failed({1, 3}, "no space");
  snapshots.order(4, 2);
  snapshots.begin(2);
  CHECK_FALSE(snapshots.is_due(4));
  CHECK_FALSE(snapshots.durable({1, 2}));
  CHECK_FALSE(snapshots.failed({1, 2}, "no space"));
  CHECK(snapshots.trouble().empty());
  const auto report = told(snapshots);
  CHECK(report.held.empty());
  CHECK(report.writing.empty());
  CHECK(report.failed.empty());
  CHECK(snapshots.stored(9) == Ids{{1, 1}});
  CHECK(snapshots.order(1, 1));
}
