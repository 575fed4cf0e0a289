// Servers that are told to end: all hold at a snapshot for them, and the next timeline begins there.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

// A second of reports from the shards that are there.
void live(Fixture& fixture, Step open, const std::vector<std::uint32_t>& shards, Micros span = 1'000 * kMilli) {
  for (const auto until = fixture.now + span; fixture.now < until;) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    for (const auto shard : shards) {
      fixture.lane(shard, fixture.state(shard, open));
    }
    fixture.beat();
  }
}

// The shard is told at step 3, and all have come to step 5.
void hold_at_5(Fixture& fixture, const std::set<std::uint32_t>& shards) {
  fixture.train();
  fixture.reports(3);
  fixture.departing = shards;
  fixture.reports(3);
  REQUIRE(fixture.plan[0].until == 5);
  fixture.held = {{1, 5}};
  fixture.reports(5);
}

bool may_depart(Fixture& fixture, std::uint32_t shard) {
  fixture.lane(shard, fixture.state(shard, 5));
  return fixture.plan[shard].may_depart;
}

}  // namespace

TEST_CASE("for a server that is told to end all hold at a snapshot, and it may go when that is durable") {
  Fixture fixture(config());
  hold_at_5(fixture, {1});
  CHECK(fixture.lead.status().phase == JobPhase::training);
  CHECK(fixture.order.rounds.standing.until == 5);
  CHECK_FALSE(may_depart(fixture, 1));
  fixture.written();  // that the snapshot is complete
  CHECK_FALSE(may_depart(fixture, 1));
  CHECK_FALSE(fixture.lead.ledger().held);
  fixture.settle();
  CHECK(fixture.lead.ledger().held);
  CHECK(may_depart(fixture, 1));
  CHECK_FALSE(may_depart(fixture, 0));  // nobody has told it to end
  live(fixture, 5, {0});
  CHECK(fixture.lead.status().waits_for == "shard 1, which was told to stop and is expected back");
  CHECK(fixture.plan[0].until == 5);
  CHECK(fixture.order.rounds.standing.until == 5);
}

TEST_CASE("its next life begins a timeline where all stood, which is no rollback, and the hold is over") {
  Fixture fixture(config());
  hold_at_5(fixture, {1});
  fixture.settle();
  REQUIRE(may_depart(fixture, 1));
  fixture.departing = {};
  fixture.incarnations[1] = 2;
  fixture.hello(1, 1);
  fixture.settle();
  const auto& ledger = fixture.lead.ledger();
  CHECK(ledger.timeline == 2);
  CHECK(ledger.base == SnapshotId{1, 5});
  CHECK_FALSE(ledger.held);
  CHECK(ledger.rollbacks.total() == 0);
  CHECK(ledger.rolled_back_steps == 0);
  fixture.timeline = 2;
  fixture.held = {};
  fixture.train(5);
  CHECK(fixture.plan[0].until > 5);
  CHECK(fixture.lead.status().phase == JobPhase::training);
}

TEST_CASE("so it is when the lead's own server went, of whose departure the next lead knows by the ledger") {
  Fixture before(config());
  hold_at_5(before, {0});
  before.settle();
  CHECK(may_depart(before, 0));
  Fixture fixture(started_again(before.lead.ledger()));
  fixture.incarnations = {2, 1};
  fixture.hello(1, 1, 5);
  fixture.hello(0, 1);
  fixture.settle();
  CHECK(fixture.lead.ledger().timeline == 2);
  CHECK(fixture.lead.ledger().base == SnapshotId{1, 5});
  CHECK(fixture.lead.ledger().rollbacks.total() == 0);
  CHECK_FALSE(fixture.lead.ledger().held);
}

TEST_CASE("the lead's own server goes after all others that were told to, or are not heard of any more") {
  for (const bool says_so : {false, true}) {
    Fixture fixture(config());
    hold_at_5(fixture, {0, 1});
    fixture.settle();
    CHECK(may_depart(fixture, 1));
    CHECK_FALSE(may_depart(fixture, 0));
    if (says_so) {
      auto last = fixture.state(1, 5);
      last.leaving = true;
      fixture.lane(1, last);
    } else {
      live(fixture, 5, {0}, 2'000 * kMilli);
      CHECK_FALSE(may_depart(fixture, 0));
      live(fixture, 5, {0}, 14'000 * kMilli);
    }
    CHECK(may_depart(fixture, 0));
    live(fixture, 5, {0});
    CHECK(fixture.lead.status().waits_for.find("told to stop") != std::string::npos);
  }
}

TEST_CASE("a snapshot that a server could not write is tried again for it, and training goes on meanwhile") {
  Fixture fixture(config());
  fixture.train();
  fixture.departing = {1};
  fixture.reports(3);
  auto report = fixture.state(1, 4);
  report.failed = {{1, 5}};
  report.trouble = "the disk is full";
  fixture.lane(0, fixture.state(0, 4));
  fixture.lane(1, report);
  CHECK(fixture.plan[1].until == 40);
  fixture.settle();
  CHECK_FALSE(fixture.lead.ledger().held);
  fixture.departing = {1};
  live(fixture, 4, {0}, 2'000 * kMilli);
  CHECK(fixture.plan[0].until == 6);
}

TEST_CASE("in a pause a server may go at once, and the pause outlives it") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  fixture.held = {{1, 5}};
  fixture.reports(5);
  fixture.settle();
  fixture.departing = {1};
  fixture.reports(5);
  fixture.settle();
  CHECK(may_depart(fixture, 1));
  CHECK(fixture.lead.status().phase == JobPhase::paused);
  fixture.departing = {};
  fixture.incarnations[1] = 2;
  fixture.hello(1, 1);
  fixture.settle();
  CHECK(fixture.lead.ledger().timeline == 2);
  CHECK(fixture.lead.ledger().pause == Pause::held);
}

TEST_CASE("a paused job is held nowhere else for a server, though somebody went on by an older plan") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  fixture.held = {{1, 5}};
  fixture.reports(6);
  fixture.settle();
  REQUIRE(fixture.lead.status().phase == JobPhase::paused);
  const Message goodbye = Goodbye{"done"};
  fixture.lead.step(lead::FromWorker{kWorker, &goodbye});
  fixture.departing = {1};
  fixture.reports(6);
  fixture.settle();
  fixture.reports(6);
  CHECK(fixture.plan[0].until == 5);
  CHECK(fixture.lead.ledger().pause == Pause::held);
}

TEST_CASE("before anybody trains, a server may go from where the timeline begins") {
  Fixture fixture(config());
  fixture.hello(0);
  fixture.hello(1);
  fixture.written();
  fixture.departing = {1};
  fixture.reports(0);
  fixture.settle();
  fixture.lane(1, fixture.state(1, 0));
  CHECK(fixture.plan[1].may_depart);
  const Message hello = WorkerHello{"worker"};
  fixture.lead.step(lead::FromWorker{kWorker, &hello});
  fixture.beat();
  fixture.settle();
  CHECK(fixture.lead.phase() == Lead::Phase::waiting);
}

TEST_CASE("in an evaluation all hold at its version, whether it comes to its end meanwhile or not") {
  for (const bool ends : {false, true}) {
    auto evaluating = config();
    evaluating.snapshot_every = 0;
    evaluating.validation_examples = 10;
    Fixture fixture(evaluating);
    fixture.train();
    fixture.reports(10);
    fixture.beat();
    REQUIRE(fixture.lead.phase() == Lead::Phase::evaluating);
    fixture.departing = {1};
    fixture.reports(10);
    CHECK(fixture.plan[0].snapshots == std::vector<Step>{10});
    CHECK(fixture.plan[0].until == 10);
    if (ends) {
      fixture.evaluate(Split::validation, 5);
      fixture.reports(10);
      CHECK(fixture.lead.phase() == Lead::Phase::training);
      CHECK(fixture.plan[0].until == 10);
    }
    fixture.held = {{1, 10}};
    fixture.reports(10);
    fixture.settle();
    fixture.reports(10);
    CHECK(fixture.lead.ledger().held);
    CHECK(fixture.plan[1].may_depart);
  }
}

TEST_CASE("without workers all hold where they are, and nobody is let go who may have come further") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  const Message goodbye = Goodbye{"done"};
  fixture.lead.step(lead::FromWorker{kWorker, &goodbye});
  fixture.departing = {1};
  fixture.reports(3);
  CHECK(fixture.plan[0].until == 3);
  CHECK(fixture.plan[0].snapshots.front() == 3);
  fixture.held = {{1, 3}};
  fixture.reports(3);
  fixture.settle();
  fixture.lane(1, fixture.state(1, 3));
  CHECK(fixture.plan[1].may_depart);
}

TEST_CASE("at a snapshot that is complete a server may go only when all have said that they stand there") {
  Fixture fixture(config());
  fixture.train();
  fixture.held = {{1, 10}};
  fixture.reports(10);
  fixture.settle();
  REQUIRE(fixture.lead.ledger().complete.back() == SnapshotId{1, 10});
  const Message goodbye = Goodbye{"done"};
  fixture.lead.step(lead::FromWorker{kWorker, &goodbye});
  const auto older = fixture.state(0, 10);
  fixture.departing = {1};
  fixture.lane(1, fixture.state(1, 10));
  CHECK(fixture.plan[1].until == 10);
  fixture.settle();
  CHECK_FALSE(fixture.lead.ledger().held);  // shard 0 may be at work by an older plan
  auto further = fixture.state(0, 10);
  further.plan = older.plan;
  further.rounds.reached = 11;
  fixture.lane(0, further);
  fixture.settle();
  CHECK_FALSE(fixture.lead.ledger().held);
  CHECK(fixture.plan[1].until == 11);
}

TEST_CASE("so does a pause hold there, that is wanted when a server is told to end and the last worker has gone") {
  Fixture fixture(config());
  fixture.train();
  fixture.held = {{1, 10}};
  fixture.reports(10);
  fixture.settle();
  fixture.client(Control::Command::pause);
  const Message goodbye = Goodbye{"done"};
  fixture.lead.step(lead::FromWorker{kWorker, &goodbye});
  auto further = fixture.state(0, 10);
  further.rounds.reached = 11;
  fixture.departing = {1};
  fixture.lane(1, fixture.state(1, 10));
  CHECK(fixture.plan[1].until == 10);
  fixture.settle();
  CHECK(fixture.lead.ledger().pause == Pause::wanted);
  fixture.lane(0, further);
  fixture.settle();
  CHECK(fixture.lead.ledger().pause == Pause::wanted);
  CHECK(fixture.plan[1].until == 11);
}

TEST_CASE("a stop of a job that holds for a server ends it, and a pause of it is a pause") {
  for (const auto command : {Control::Command::stop, Control::Command::pause}) {
    Fixture fixture(config());
    hold_at_5(fixture, {1});
    fixture.settle();
    fixture.client(command);
    fixture.settle();
    fixture.reports(5);
    fixture.settle();
    CHECK(fixture.lead.status().phase == (command == Control::Command::stop ? JobPhase::stopped : JobPhase::paused));
  }
}

TEST_CASE("resuming a job does not let it go on beyond where it holds for a server") {
  Fixture fixture(config());
  hold_at_5(fixture, {1});
  fixture.settle();
  fixture.client(Control::Command::resume);
  fixture.settle();
  fixture.reports(5);
  fixture.beat();
  CHECK(fixture.plan[0].until == 5);
  CHECK(fixture.order.rounds.standing.until == 5);
}
