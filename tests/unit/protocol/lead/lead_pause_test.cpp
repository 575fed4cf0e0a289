// The lead's pauses and stops.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

// Both shards and the worker live, at a step that does not come to its end; shard 1 tells of a full disk.
void stand_still(Fixture& fixture, Micros span, Step open) {
  for (const auto until = fixture.now + span; fixture.now < until && fixture.lead.phase() < Lead::Phase::finished;) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    fixture.lane(0, fixture.state(0, open));
    auto report = fixture.state(1, open);
    report.trouble = "the disk is full";
    fixture.lane(1, report);
    fixture.beat();
  }
}

// Both shards have come to step 5, where the user's pause holds.
void pause_at_5(Fixture& fixture) {
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  fixture.held = {{1, 5}};
  fixture.reports(5);
  fixture.settle();
  REQUIRE(fixture.lead.status().phase == JobPhase::paused);
}

// A job that stops without a snapshot when none has come for 20 s.
LeadConfig impatient() {
  auto impatient = config();
  impatient.stop_patience = 20'000 * kMilli;
  return impatient;
}

// The same with ten steps and no evaluation.
LeadConfig short_and_impatient() {
  auto brief = impatient();
  brief.steps = 10;
  brief.evaluate_every = 40;
  return brief;
}

}  // namespace

TEST_CASE("a pause holds at a snapshot that nobody has passed, and resuming goes on from there") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  CHECK(fixture.lead.status().phase == JobPhase::pausing);
  CHECK(fixture.order.rounds.standing.until == 5);
  CHECK(std::find(fixture.plan[0].snapshots.begin(), fixture.plan[0].snapshots.end(), 5) !=
        fixture.plan[0].snapshots.end());
  fixture.held = {{1, 5}};
  fixture.reports(5);
  fixture.settle();
  CHECK(fixture.lead.status().phase == JobPhase::paused);
  fixture.client(Control::Command::resume);
  fixture.reports(5);
  fixture.beat();
  CHECK(fixture.lead.status().phase == JobPhase::paused);  // as long as a lead that starts now would find it so
  CHECK(fixture.order.rounds.standing.until == 5);
  CHECK(fixture.plan[0].until == 5);
  fixture.settle();
  CHECK(fixture.lead.status().phase == JobPhase::training);
  CHECK(fixture.order.rounds.standing.until == 40);
  CHECK(fixture.plan[0].until > 5);
}

TEST_CASE("a job that is paused again before the end of its pause is durable goes on nowhere") {
  Fixture fixture(config());
  pause_at_5(fixture);
  fixture.client(Control::Command::resume);
  fixture.client(Control::Command::pause);
  for (int i = 0; i < 3; ++i) {
    fixture.written();
    CHECK(fixture.plan[0].until == 5);
  }
  CHECK(fixture.lead.status().phase == JobPhase::paused);
}

TEST_CASE("a lead that starts in a pause, and is told to go on, does so when that is durable") {
  Fixture before(config());
  pause_at_5(before);
  Fixture fixture(started_again(before.lead.ledger()));
  fixture.held = {{1, 5}};
  fixture.client(Control::Command::resume);
  fixture.hello(0, 1);
  fixture.hello(1, 1);
  fixture.reports(5);
  const Message hello = WorkerHello{"worker"};
  fixture.lead.step(lead::FromWorker{kWorker, &hello});
  fixture.beat();
  CHECK(fixture.plan[0].until <= 5);
  fixture.settle();
  CHECK(fixture.lead.status().phase == JobPhase::training);
  CHECK(fixture.plan[0].until > 5);
}

TEST_CASE("a pause outlives the lead, within its timeline and beyond, until somebody resumes the job") {
  for (const bool shards_die : {false, true}) {
    Fixture before(config());
    pause_at_5(before);
    Fixture fixture(started_again(before.lead.ledger()));
    fixture.held = {{1, 5}};
    if (shards_die) {
      fixture.incarnations = {2, 2};
      fixture.hello(0, 1);
      fixture.hello(1, 1);
      fixture.settle();
      CHECK(fixture.lead.ledger().base == SnapshotId{1, 5});
    }
    fixture.timeline = shards_die ? 2 : 1;
    fixture.train(5);
    fixture.settle();
    CHECK(fixture.lead.status().phase == JobPhase::paused);
    CHECK(fixture.order.rounds.standing.until <= 5);
    for (const auto step : fixture.plan[0].snapshots) {
      CHECK(step % 10 == 0);  // nobody trains on to another one for the pause
    }
    fixture.client(Control::Command::resume);
    fixture.settle();
    CHECK(fixture.lead.status().phase == JobPhase::training);
    CHECK(fixture.order.rounds.standing.until == 40);
  }
}

TEST_CASE("nothing beyond the version where a pause or a stop is to hold is planned any more, until it goes on") {
  for (const auto command : {Control::Command::pause, Control::Command::stop}) {
    Fixture fixture(config());
    fixture.planned = 4;
    fixture.train();
    fixture.reports(3);
    fixture.client(command);
    const auto planned_to = [&](std::uint32_t shard) {
      const auto& plan = fixture.plan[shard];
      return plan.first + plan.factors.size();
    };
    for (Step open = 3; open <= 5; ++open) {
      fixture.reports(open);
      CHECK(planned_to(0) <= 5);
      CHECK(planned_to(1) <= 5);
    }
    CHECK(planned_to(0) == 5);
    fixture.client(Control::Command::resume);
    fixture.settle();
    CHECK(planned_to(0) > 5);
  }
}

TEST_CASE("a lead that dies before its pause is complete comes back pausing") {
  Fixture before(config());
  before.train();
  before.reports(3);
  before.client(Control::Command::pause);
  before.settle();
  Fixture fixture(started_again(before.lead.ledger()));
  fixture.train(4);
  CHECK(fixture.lead.status().phase == JobPhase::pausing);
  CHECK(fixture.order.rounds.standing.until == 6);
  fixture.held = {{1, 6}};
  fixture.reports(6);
  fixture.settle();
  CHECK(fixture.lead.status().phase == JobPhase::paused);
  CHECK(fixture.lead.status().step == 6);
}

TEST_CASE("a stop ends a pause, durably, before the job ends") {
  Fixture fixture(config());
  pause_at_5(fixture);
  fixture.client(Control::Command::stop);
  CHECK(fixture.lead.phase() != Lead::Phase::stopped);
  fixture.settle();
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
  CHECK(fixture.lead.ledger().pause == Pause::none);
}

TEST_CASE("a stop ends the job when its snapshot is durable in the ledger") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::stop);
  fixture.held = {{1, 5}};
  fixture.reports(5);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.lead.status().beyond_snapshot);
  CHECK_FALSE(to_lanes<Finish>(fixture.written()).empty());
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
  CHECK_FALSE(fixture.lead.status().beyond_snapshot);
}

TEST_CASE("a step that was on its way when the stop had its snapshot is not said to be left out") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::stop);
  fixture.held = {{1, 5}};
  fixture.reports(6);
  fixture.settle();
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
  CHECK(fixture.lead.status().step == 6);
  CHECK(fixture.lead.status().snapshot == 5);
  CHECK_FALSE(fixture.lead.status().beyond_snapshot);
}

TEST_CASE("a job that has not begun to train is stopped at once") {
  Fixture fixture(config());
  fixture.hello(0);
  fixture.client(Control::Command::stop);
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
}

TEST_CASE("a stop that no worker is there to work for ends the job at once, at its newest snapshot") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::stop);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  for (int i = 0; i < 400 && fixture.lead.phase() == Lead::Phase::training; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    fixture.lane(0, fixture.state(0, 3));
    fixture.lane(1, fixture.state(1, 3));
  }
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
}

TEST_CASE("a stop that waits for a copy alone waits for a snapshot of its own again when somebody comes to work") {
  auto copying = config();
  copying.copies.emplace();
  copying.evaluate_every = 40;
  copying.snapshot_every = 5;
  Fixture fixture(copying);
  const auto reports = [&](Step open, bool copied) {
    for (const std::uint32_t shard : {0U, 1U}) {
      auto report = fixture.state(shard, open);
      report.copy = {1, {1, 5}, 100, 0, copied};
      fixture.lane(shard, report);
    }
  };
  fixture.train();
  fixture.held = {{1, 5}};
  fixture.reports(5);
  fixture.settle();
  reports(7, false);
  fixture.client(Control::Command::stop);
  for (int i = 0; i < 400; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    reports(7, false);
  }
  REQUIRE(fixture.lead.status().lost_workers == 1);
  REQUIRE(fixture.lead.phase() == Lead::Phase::training);  // until the copy is there
  const Message hello = WorkerHello{"worker"};
  fixture.lead.step(lead::FromWorker{kWorker, &hello});
  fixture.beat();
  reports(7, true);
  fixture.settle();
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  fixture.held = {{1, 5}, {1, 9}};
  reports(9, true);
  fixture.settle();
  CHECK(fixture.lead.ledger().complete.back() == SnapshotId{1, 9});
  for (const std::uint32_t shard : {0U, 1U}) {
    auto report = fixture.state(shard, 9);
    report.copy = {1, {1, 9}, 100, 0, true};
    fixture.lane(shard, report);
  }
  fixture.settle();
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
}

TEST_CASE("a stop that comes to no snapshot ends without one when its patience is over, and says why") {
  Fixture fixture(impatient());
  fixture.train();
  fixture.reports(3);
  stand_still(fixture, 30'000 * kMilli, 3);  // before the stop no patience is used up
  fixture.client(Control::Command::stop);
  stand_still(fixture, 15'000 * kMilli, 3);
  fixture.client(Control::Command::stop);  // said again and again, as the command line does
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  stand_still(fixture, 10'000 * kMilli, 3);
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
  const auto status = fixture.lead.status();
  CHECK(status.trouble ==
        "no snapshot was taken in the 20 s after the stop (cluster.stop_patience); shard 1: the disk is full");
  CHECK(status.failure.empty());
  CHECK(status.beyond_snapshot);
}

TEST_CASE("a pause has no such patience, and a stop that is taken back neither") {
  Fixture fixture(impatient());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::stop);
  stand_still(fixture, 10'000 * kMilli, 3);
  fixture.client(Control::Command::resume);
  stand_still(fixture, 30'000 * kMilli, 3);
  fixture.client(Control::Command::pause);
  stand_still(fixture, 30'000 * kMilli, 3);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
}

TEST_CASE("a snapshot for which a disk has no room ends neither a pause nor a stop: another is tried a little later") {
  for (const auto command : {Control::Command::pause, Control::Command::stop}) {
    Fixture fixture(config());
    fixture.train();
    fixture.reports(3);
    fixture.client(command);
    const auto first = fixture.order.rounds.standing.until;
    auto failed = fixture.state(0, first);
    failed.held = {};
    failed.failed = {{1, first}};
    failed.trouble = "the disk is full";
    fixture.lane(0, failed);
    fixture.written();
    CHECK(fixture.lead.phase() == Lead::Phase::training);
    CHECK(fixture.lead.status().phase == JobPhase::pausing);
    CHECK(fixture.lead.status().trouble.find("the disk is full") != std::string::npos);
    fixture.client(command);                           // said again and again: no reason to try at once
    CHECK(fixture.order.rounds.standing.until == 40);  // the workers have something to do meanwhile
    stand_still(fixture, 1'500 * kMilli, first + 1);
    const auto second = fixture.order.rounds.standing.until;
    CHECK(second > first + 1);
    CHECK(second < 40);
    fixture.held = {{1, second}};
    fixture.reports(second);
    fixture.settle();
    CHECK(fixture.lead.status().phase == (command == Control::Command::stop ? JobPhase::stopped : JobPhase::paused));
    CHECK(fixture.lead.status().snapshot == second);
  }
}

TEST_CASE("a job that cannot write its end stops when the patience with a stop is over") {
  Fixture fixture(short_and_impatient());
  fixture.train();
  fixture.reports(10);
  fixture.client(Control::Command::stop);
  CHECK(fixture.lead.status().phase == JobPhase::finishing);
  stand_still(fixture, 25'000 * kMilli, 10);
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
  CHECK(fixture.lead.status().trouble.starts_with("no snapshot was taken in the 20 s"));
}

TEST_CASE("the writing of the end has a stop's patience of its own, though its snapshot has used up most of it") {
  Fixture fixture(short_and_impatient());
  fixture.train();
  fixture.reports(10);
  fixture.client(Control::Command::stop);
  stand_still(fixture, 19'000 * kMilli, 10);
  fixture.held = {{1, 10}};
  fixture.reports(10);
  fixture.written();
  REQUIRE(fixture.lead.phase() == Lead::Phase::concluding);
  stand_still(fixture, 19'000 * kMilli, 10);
  CHECK(fixture.lead.phase() == Lead::Phase::concluding);
  fixture.settle();
  CHECK(fixture.lead.phase() == Lead::Phase::finished);
}

TEST_CASE("whoever stops a job that waits for its last copy alone sees it finish without, or its end not written") {
  for (const bool is_written : {true, false}) {
    auto copied = short_and_impatient();
    copied.copies.emplace();
    Fixture fixture(copied);
    fixture.train();
    fixture.held = {{1, 10}};
    fixture.reports(10);
    fixture.settle();
    fixture.client(Control::Command::stop);
    stand_still(fixture, 15'000 * kMilli, 10);
    CHECK(fixture.lead.status().phase == JobPhase::finishing);
    stand_still(fixture, 6'000 * kMilli, 10);
    REQUIRE(fixture.lead.phase() == Lead::Phase::concluding);
    if (is_written) {
      fixture.settle();
    }
    stand_still(fixture, 15'000 * kMilli, 10);
    CHECK(fixture.lead.phase() == (is_written ? Lead::Phase::finished : Lead::Phase::concluding));
    stand_still(fixture, 6'000 * kMilli, 10);
    CHECK(fixture.lead.phase() == (is_written ? Lead::Phase::finished : Lead::Phase::stopped));
    CHECK(fixture.lead.status().trouble.starts_with("the job's end was not written in the 20 s") == !is_written);
  }
}

TEST_CASE("a pause whose version the shards have passed already holds further on") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  fixture.reports(7);
  CHECK(fixture.lead.status().phase == JobPhase::pausing);
  CHECK(fixture.order.rounds.standing.until > 7);
  CHECK(fixture.order.rounds.standing.until < 40);
}

TEST_CASE("a pause whose version one chunk has passed already holds further on") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  REQUIRE(fixture.plan[0].until == 5);
  auto ahead = fixture.state(0, 5);  // all its chunks have come there, and one had gone on by an older plan
  ahead.rounds.reached = 6;
  fixture.lane(0, ahead);
  CHECK(fixture.lead.status().phase == JobPhase::pausing);
  CHECK(fixture.plan[0].until > 6);
  CHECK(fixture.plan[0].until < 40);
}

TEST_CASE("a snapshot beyond the version where all are to hold is none that they hold at") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(6);
  fixture.client(Control::Command::pause);
  REQUIRE(fixture.plan[0].until == 8);
  fixture.held = {{1, 10}};  // ordered before, and the shards were further on than they had reported
  fixture.reports(12);
  fixture.settle();
  CHECK(fixture.lead.ledger().complete.back() == SnapshotId{1, 10});
  CHECK(fixture.lead.status().phase == JobPhase::pausing);
  CHECK(fixture.plan[0].until > 12);
  CHECK(fixture.plan[0].until < 40);
}

TEST_CASE("in rounds a pause is held where no snapshot is ordered yet: who has its part of one may have gone on") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(8);
  REQUIRE(fixture.plan[0].snapshots == std::vector<Step>{10});
  fixture.client(Control::Command::pause);
  CHECK(fixture.plan[0].until == 11);
  CHECK(fixture.plan[0].snapshots == std::vector<Step>{10, 11});
}

TEST_CASE("plans of one number name one end") {
  Fixture fixture(config());
  fixture.train();
  const auto first = fixture.plan[0];
  fixture.reports(1);
  CHECK(fixture.plan[0].number == first.number);
  fixture.client(Control::Command::pause);
  CHECK(fixture.plan[0].until < first.until);
  CHECK(fixture.plan[0].number > first.number);
  CHECK(fixture.plan[1].number == fixture.plan[0].number);
}
