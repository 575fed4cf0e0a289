#include "protocol/lead/snapshot_schedule.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("the next due version is ordered as soon as no other is on its way") {
  SnapshotSchedule schedule(10);
  CHECK(schedule.decided_until() == 10);
  CHECK(schedule.decide(0) == 0);
  CHECK(schedule.ordered() == std::set<Step>{10});
  CHECK(schedule.decided_until() == 20);
  CHECK(schedule.decide(11) == 0);  // 20 is still far, and 10 may be complete by then
  CHECK(schedule.decided_until() == 20);
  schedule.close_through(10);
  CHECK(schedule.decide(11) == 0);
  CHECK(schedule.ordered() == std::set<Step>{20});
}

TEST_CASE("what falls due while one is on its way is missed, decided late but before it is reached") {
  SnapshotSchedule schedule(10);
  schedule.decide(0);
  CHECK(schedule.decide(11) == 0);
  CHECK(schedule.decide(12) == 1);
  CHECK(schedule.ordered() == std::set<Step>{10});
  CHECK(schedule.decided_until() == 30);
}

TEST_CASE("no factors beyond an undecided version: each is decided before any shard can pass it") {
  SnapshotSchedule schedule(1);
  for (Step open = 0; open < 50; ++open) {
    CHECK(schedule.decided_until() >= open);
    schedule.decide(open);
    CHECK(schedule.decided_until() > open);
  }
}

TEST_CASE("a lead in the midst of a timeline does not order what is past, and counts nothing as missed") {
  SnapshotSchedule schedule(10);
  CHECK(schedule.decide(35) == 0);
  CHECK(schedule.ordered() == std::set<Step>{40});
}

TEST_CASE("going back orders anew") {
  SnapshotSchedule schedule(10);
  schedule.decide(0);
  schedule.close_through(10);
  schedule.decide(10);
  schedule.order(13);
  schedule.rewind(10);
  CHECK(schedule.ordered().empty());
  schedule.decide(10);
  CHECK(schedule.ordered() == std::set<Step>{20});
}

TEST_CASE("without a period only what is ordered is taken") {
  SnapshotSchedule schedule(0);
  CHECK(schedule.decide(100) == 0);
  CHECK(schedule.ordered().empty());
  schedule.order(7);
  schedule.order(7);
  CHECK(schedule.ordered() == std::set<Step>{7});
  schedule.close(7);
  CHECK(schedule.ordered().empty());
}
