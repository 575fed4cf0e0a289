// The lead of a job in which each item is an update of its own, through deaths of shards and its own: what they still
// have, and which snapshots make a cut.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

LeadConfig journaled() {
  auto journaled = config();
  journaled.items = ItemMode{0, 4, true};
  journaled.test_examples = 10;
  return journaled;
}

// All items before `open` are covered.
LaneReport items_before(Fixture& fixture, std::uint32_t shard, Step open) {
  auto report = fixture.state(shard, open);
  report.items.covered = {{0, 2 * open}};
  report.items.synced = 2 * open;
  return report;
}

void report_items(Fixture& fixture, Step open) {
  fixture.lane(0, items_before(fixture, 0, open));
  fixture.lane(1, items_before(fixture, 1, open));
}

lead::Actions come_back(Fixture& fixture, std::uint32_t shard, std::vector<ShardLife> lives) {
  fixture.incarnations[shard] = lives.back().incarnation;
  fixture.sequences[shard] = 0;
  return fixture.lane(shard, fixture.hello_of(shard, 1, 0, std::move(lives)));
}

// The second hello of the shard's life.
lead::Actions replayed(Fixture& fixture, std::uint32_t shard, std::vector<ShardLife> lives, Replayed replayed) {
  auto hello = fixture.hello_of(shard, 1, 0, std::move(lives));
  hello.replayed = replayed;
  return fixture.lane(shard, hello);
}

// All have come to the first barrier, step 10, and that is durable: it is evaluated.
void come_to_barrier(Fixture& fixture) {
  fixture.planned = 20;  // items, to the barrier
  fixture.train();
  report_items(fixture, 10);
  fixture.written();
}

// A lead before this one has left the cut.
LeadConfig again(Step cut, std::vector<Step> kept) {
  auto again = journaled();
  auto& ledger = again.memory.ledger;
  ledger.timeline = 1;
  ledger.placement = 1;
  ledger.incarnations = {1, 1};
  ledger.complete = {{0, 0}};
  ledger.provenance = two_shards::of_the_worker();
  ledger.cut = cut;
  ledger.kept = std::move(kept);
  return again;
}

void begin_again(Fixture& fixture, Step open) {
  fixture.placement = 1;
  come_back(fixture, 0, {{1, 0}});
  come_back(fixture, 1, {{1, 0}});
  report_items(fixture, open);
  const Message hello = WorkerHello{"worker"};
  fixture.lead.step(lead::FromWorker{kWorker, &hello});
  fixture.beat();
}

ItemId last_granted(const Fixture& fixture) {
  ItemId last = 0;
  for (const auto& grant : fixture.order.items.grants) {
    last = std::max(last, grant.item);
  }
  return last;
}

}  // namespace

TEST_CASE("workers hear where a shard lives now when the ledger says so durably") {
  Fixture fixture(journaled());
  fixture.planned = 20;  // the plan ends at the barrier
  fixture.placement = 1;
  fixture.train();
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  const auto welcomes = [](const lead::Actions& actions) {
    return std::count_if(actions.begin(), actions.end(), [](const auto& action) {
      const auto* send = std::get_if<lead::SendToWorker>(&action);
      return send != nullptr && std::holds_alternative<WorkerWelcome>(send->message);
    });
  };
  CHECK(welcomes(fixture.beat()) == 0);
  fixture.written();
  CHECK(welcomes(fixture.beat()) == 1);
  CHECK(fixture.lead.ledger().timeline == 1);
}

TEST_CASE("a shard whose list has no room for its life takes the job back, and one whose list is full goes on") {
  for (const std::uint64_t lives : {kMaxShardLives, kMaxShardLives + 1}) {
    Fixture fixture(journaled());
    fixture.planned = 20;  // the plan ends at the barrier
    fixture.train();
    std::vector<ShardLife> list;
    for (Incarnation life = 1; life <= lives; ++life) {
      list.push_back({life, 0});
    }
    come_back(fixture, 1, list);
    fixture.written();
    CHECK(fixture.lead.ledger().timeline == (lives <= kMaxShardLives ? 1 : 2));
    CHECK(fixture.lead.ledger().rollbacks.lives == (lives <= kMaxShardLives ? 0 : 1));
    CHECK(fixture.lead.ledger().resumed_shards == (lives <= kMaxShardLives ? 1 : 0));
  }
}

TEST_CASE("work that rests on what a shard has lost takes the job back") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.placement = 1;
  fixture.train();
  report_items(fixture, 1);
  auto built_upon = items_before(fixture, 0, 1);
  built_upon.items.marks = {{1, 1, 8}};
  fixture.lane(0, built_upon);
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.settle();
  CHECK(fixture.lead.ledger().timeline == 2);
  CHECK(fixture.lead.ledger().rollbacks == RollbackCounts{.mark = 1});
}

TEST_CASE("in item mode a timeline in which nobody has trained is begun anew without being counted") {
  const auto counted = [](bool trained, ItemId reached, std::vector<ShardLife> lives) {
    Fixture fixture(journaled());
    fixture.planned = 20;
    fixture.placement = 1;
    fixture.hello(0);
    fixture.hello(1);
    fixture.written();
    if (trained) {
      fixture.train();
    }
    auto report = items_before(fixture, 0, 0);
    report.items.reached = reached;
    fixture.lane(0, report);
    if (!lives.empty()) {
      come_back(fixture, 0, std::move(lives));
    }
    fixture.incarnations[1] = 2;
    fixture.hello(1);  // without its journal
    fixture.settle();
    CHECK(fixture.lead.ledger().timeline == 2);
    return fixture.lead.ledger().rollbacks;
  };
  CHECK(counted(false, 0, {}) == RollbackCounts{});
  CHECK(counted(false, 0, {{1, 0}, {2, 0}}) == RollbackCounts{});
  CHECK(counted(false, 1, {}) == RollbackCounts{.shard = 1});
  CHECK(counted(false, 0, {{1, 0}, {2, 3}}) == RollbackCounts{.shard = 1});
  CHECK(counted(true, 0, {}) == RollbackCounts{.shard = 1});
}

TEST_CASE("a cut is evaluated when it is durable, and nobody is let go on before") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.train();
  report_items(fixture, 10);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.plan[0].until == 20);
  fixture.planned = 40;
  report_items(fixture, 10);
  CHECK(fixture.order.items.grants.empty());
  fixture.written();
  CHECK(fixture.lead.ledger().cut == 10);
  CHECK(fixture.lead.phase() == Lead::Phase::evaluating);
}

TEST_CASE("without a journal a cut waits for nothing") {
  auto unwritten = journaled();
  unwritten.items->journaled = false;
  Fixture fixture(unwritten);
  fixture.planned = 20;
  fixture.train();
  report_items(fixture, 10);
  CHECK(fixture.lead.phase() == Lead::Phase::evaluating);
}

TEST_CASE("without a journal a cut waits for nothing while a snapshot is on its way either") {
  auto unwritten = journaled();
  unwritten.items->journaled = false;
  unwritten.snapshot_every = 5;
  Fixture fixture(unwritten);
  fixture.planned = 40;
  fixture.train();
  report_items(fixture, 5);
  CHECK(fixture.plan[1].snapshots == std::vector<Step>{5});
  report_items(fixture, 10);
  fixture.evaluate(Split::test, 5);
  report_items(fixture, 10);
  fixture.written();
  report_items(fixture, 15);
  CHECK(fixture.plan[1].until == 40);
  CHECK(fixture.lead.status().snapshots_missed == 2);
}

TEST_CASE("nobody goes beyond an evaluation before it is durable") {
  for (const bool has_journal : {true, false}) {
    auto config = journaled();
    config.items->journaled = has_journal;
    Fixture fixture(config);
    come_to_barrier(fixture);
    REQUIRE(fixture.lead.phase() == Lead::Phase::evaluating);
    const EvaluationResult result{1, Split::test, 0, fixture.order.evaluation.value().version, 1.0, 5, 10};
    const Message message = result;
    fixture.lead.step(lead::FromWorker{kWorker, &message});
    report_items(fixture, 10);
    CHECK(fixture.lead.phase() == Lead::Phase::training);
    CHECK(fixture.plan[1].until == 20);
    fixture.settle();
    report_items(fixture, 10);
    CHECK(fixture.plan[1].until == 40);
  }
}

TEST_CASE("a cut is no cut before all journals are synced with it") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.train();
  fixture.lane(0, items_before(fixture, 0, 10));
  auto unsynced = items_before(fixture, 1, 10);
  unsynced.items.synced = 0;
  fixture.lane(1, unsynced);
  fixture.written();
  CHECK(fixture.lead.ledger().cut == 0);
  fixture.lane(1, items_before(fixture, 1, 10));
  fixture.written();
  CHECK(fixture.lead.ledger().cut == 10);
}

TEST_CASE("that a snapshot of a cut is ordered is durable with it, and the plan that goes on has the order") {
  Fixture fixture(journaled());
  come_to_barrier(fixture);
  CHECK(fixture.lead.ledger().kept == std::vector<Step>{10});
  fixture.evaluate(Split::test, 5);
  report_items(fixture, 10);
  REQUIRE(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.plan[1].until == 40);
  CHECK(fixture.plan[1].snapshots == std::vector<Step>{10});
}

TEST_CASE("the best step is kept together with its evaluation") {
  auto best = journaled();
  best.snapshot_every = 0;
  best.test_examples = 0;
  best.validation_examples = 10;
  best.keep_best = true;
  Fixture fixture(best);
  come_to_barrier(fixture);
  REQUIRE(fixture.lead.phase() == Lead::Phase::evaluating);
  CHECK(fixture.lead.ledger().kept.empty());
  EvaluationResult result{1, Split::validation, 0, fixture.order.evaluation.value().version, 1.0, 5, 10};
  const Message message = result;
  const auto actions = fixture.lead.step(lead::FromWorker{kWorker, &message});
  const auto* write = find<lead::WriteLedger>(actions);
  REQUIRE(write != nullptr);
  CHECK(write->change.evaluations.size() == 1);
  CHECK(write->change.ledger.kept == std::vector<Step>{10});
}

TEST_CASE("a shard that has less than the cut that it was told takes the job back, in a life that is listed as well") {
  for (const bool is_listed : {false, true}) {
    Fixture fixture(journaled());
    come_to_barrier(fixture);
    const std::vector<ShardLife> lives = {{1, 0}, {2, 7}};
    come_back(fixture, 1, lives);
    if (is_listed) {
      fixture.written();
    }
    replayed(fixture, 1, lives, {19, 10});
    CHECK(fixture.lead.timeline() == 2);
    fixture.settle();
    CHECK(fixture.lead.ledger().cut == 0);
    CHECK(fixture.lead.ledger().kept.empty());
    CHECK(fixture.lead.ledger().rollbacks == RollbackCounts{.below_cut = 1});
  }
}

TEST_CASE("a shard that has what lies before the cut serves when the lead says so") {
  Fixture fixture(journaled());
  come_to_barrier(fixture);
  const std::vector<ShardLife> lives = {{1, 0}, {2, 7}};
  come_back(fixture, 1, lives);
  const auto confirmed = to_lanes<Confirm>(fixture.written());
  REQUIRE(confirmed.size() == 1);
  CHECK(confirmed[0].resumes);
  CHECK(confirmed[0].cut == 10);
  CHECK_FALSE(confirmed[0].serves);
  const auto answer = to_lanes<Confirm>(replayed(fixture, 1, lives, {20, 10}));
  REQUIRE(answer.size() == 1);
  CHECK(answer[0].serves);
  fixture.lane(1, items_before(fixture, 1, 10));
  replayed(fixture, 1, lives, {19, 10});  // comes late: one that serves is compared no more
  CHECK(fixture.lead.timeline() == 1);
}

TEST_CASE("a shard that was told another cut is told the newest, and compared with that alone") {
  Fixture fixture(journaled());
  come_to_barrier(fixture);
  const std::vector<ShardLife> lives = {{1, 0}, {2, 7}};
  come_back(fixture, 1, lives);
  fixture.written();
  const auto answer = to_lanes<Confirm>(replayed(fixture, 1, lives, {3, 0}));
  REQUIRE(answer.size() == 1);
  CHECK(answer[0].cut == 10);
  CHECK_FALSE(answer[0].serves);
  CHECK(fixture.lead.timeline() == 1);
}

TEST_CASE("a cut that is not durable is named to a life that comes back all the same") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.train();
  report_items(fixture, 10);  // it is being written
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.written();
  const auto confirmed = to_lanes<Confirm>(fixture.written());
  REQUIRE(!confirmed.empty());
  CHECK(confirmed.back().cut == 10);
}

TEST_CASE("a new life voids what older ones reported") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.train();
  fixture.lane(0, items_before(fixture, 0, 10));
  come_back(fixture, 0, {{1, 0}, {2, 7}});
  fixture.lane(1, items_before(fixture, 1, 10));
  fixture.settle();
  CHECK(fixture.lead.ledger().cut == 0);
}

TEST_CASE("a pause cuts beyond what any chunk has reached, and follows who has reached further, up to the barrier") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.placement = 1;
  fixture.train();
  // A lead before this one granted item 8.
  const auto reach = [&](std::uint32_t shard, ItemId reached) {
    auto report = items_before(fixture, shard, 1);
    report.items.reached = reached;
    fixture.lane(shard, report);
  };
  reach(0, 9);
  reach(1, 2);
  fixture.client(Control::Command::pause);
  CHECK(fixture.plan[0].until == 10);
  CHECK(fixture.plan[0].snapshots.empty());
  reach(0, 14);
  CHECK(fixture.plan[0].until == 14);
  reach(0, 16);
  reach(1, 19);
  CHECK(fixture.plan[1].until == 20);
}

TEST_CASE("a pause's cut counts by reports on the plan that names it, and is kept") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.train();
  report_items(fixture, 1);                  // items 2 to 5 are granted
  auto early = items_before(fixture, 0, 3);  // by the plan to the barrier: more may have come since
  fixture.client(Control::Command::pause);
  REQUIRE(fixture.plan[0].until == 6);
  fixture.lane(0, early);
  fixture.lane(1, items_before(fixture, 1, 3));
  fixture.settle();
  CHECK(fixture.lead.ledger().cut == 0);
  fixture.lane(0, items_before(fixture, 0, 3));
  fixture.written();
  CHECK(fixture.lead.ledger().cut == 3);
  CHECK(fixture.lead.ledger().kept == std::vector<Step>{3});
  fixture.held = {{1, 3}};
  report_items(fixture, 3);
  fixture.settle();
  CHECK(fixture.lead.ledger().pause == Pause::held);
  CHECK(fixture.lead.ledger().kept.empty());
}

TEST_CASE("a cut that is being recorded ends all until it is durable, though the pause is over") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.train();
  report_items(fixture, 1);
  fixture.client(Control::Command::pause);
  fixture.written();
  report_items(fixture, 3);
  fixture.client(Control::Command::resume);
  report_items(fixture, 3);
  CHECK(fixture.plan[0].until == 6);
  CHECK(fixture.order.items.grants.empty());
  fixture.settle();
  report_items(fixture, 3);
  CHECK(fixture.plan[0].until == 20);
  CHECK(fixture.plan[0].snapshots == std::vector<Step>{3});
  CHECK(last_granted(fixture) == 9);
}

TEST_CASE("a pause at a cut of which no snapshot is ordered cuts a step later") {
  auto rarely = journaled();
  rarely.snapshot_every = 0;
  Fixture fixture(rarely);
  come_to_barrier(fixture);
  REQUIRE(fixture.lead.ledger().kept.empty());
  fixture.client(Control::Command::pause);
  fixture.evaluate(Split::test, 5);
  fixture.settle();
  report_items(fixture, 10);
  CHECK(fixture.plan[0].until == 22);
}

TEST_CASE("a pause that comes before anything is done holds at the base") {
  Fixture fixture(journaled());
  fixture.planned = 0;
  fixture.train();
  fixture.client(Control::Command::pause);
  fixture.settle();
  CHECK(fixture.plan[0].until == 0);
  CHECK(fixture.lead.ledger().pause == Pause::wanted);  // an older lead's plan may have let a lane go on
  report_items(fixture, 0);
  fixture.settle();
  CHECK(fixture.lead.ledger().pause == Pause::held);
}

TEST_CASE("no two lives of the lead grant by the same clock") {
  const auto first_clock = [](std::uint64_t life) {
    auto config = journaled();
    config.life = life;
    Fixture fixture(config);
    fixture.planned = 20;
    fixture.train();
    return fixture.order.items.grants.at(0).clock;
  };
  CHECK(first_clock(1) == LeadNumber{1, 1});
  CHECK(first_clock(2) == LeadNumber{2, 1});
}

TEST_CASE("an earlier life, in the place of one that speaks, does not take the job back: its hello comes late") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.placement = 1;
  fixture.train();
  const auto hello_of_life = [&](Incarnation life) {
    fixture.incarnations[1] = life;
    const auto actions = fixture.hello(1);
    fixture.incarnations[1] = 2;
    return actions;
  };
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.written();
  for (int i = 0; i < 10; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    report_items(fixture, 0);
    const auto actions = hello_of_life(1);
    CHECK(find<lead::WriteLedger>(actions) == nullptr);
    CHECK(to_lanes<Refused>(actions).size() == 1);
    CHECK(fixture.lead.status().timeline == 1);
    CHECK(fixture.lead.status().trouble.empty());
  }
  hello_of_life(3);  // the journal is lost, and life 2 is over: the database shows that
  fixture.written();
  CHECK(fixture.lead.status().timeline == 2);
}

TEST_CASE("a later lead goes on from the cut: it evaluates it, and orders the snapshot that is to be kept") {
  Fixture fixture(again(10, {10}));
  fixture.planned = 20;
  begin_again(fixture, 10);
  CHECK(fixture.lead.phase() == Lead::Phase::evaluating);
  CHECK(fixture.plan[0].snapshots == std::vector<Step>{10});
  fixture.held = {{1, 10}};
  report_items(fixture, 10);
  fixture.settle();
  const SnapshotId newest = fixture.lead.ledger().complete.back();
  CHECK(newest == SnapshotId{1, 10});
}

TEST_CASE("a snapshot that is ordered and that a lane went beyond without it is given up, once") {
  Fixture fixture(again(10, {10}));
  fixture.planned = 40;
  fixture.placement = 1;
  come_back(fixture, 0, {{1, 0}});
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.written();
  fixture.held = {{1, 10}};
  fixture.lane(0, items_before(fixture, 0, 11));
  fixture.held = {};
  fixture.lane(1, items_before(fixture, 1, 11));
  fixture.settle();
  CHECK(fixture.lead.ledger().snapshots_missed == 1);
  CHECK(fixture.lead.ledger().kept.empty());
  CHECK(fixture.plan[1].snapshots.empty());
}

TEST_CASE("a job that is resumed with other cuts goes on to the first to which all can come") {
  const auto resumed_at = [](Step open) {
    auto more_often = again(0, {});
    more_often.snapshot_every = 5;
    Fixture fixture(more_often);
    fixture.planned = 30;
    fixture.placement = 1;
    come_back(fixture, 0, {{1, 0}});
    come_back(fixture, 1, {{1, 0}});
    for (const std::uint32_t shard : {0U, 1U}) {
      auto report = items_before(fixture, shard, open);
      report.items.reached = 2 * open;
      fixture.lane(shard, report);
    }
    const Message hello = WorkerHello{"worker"};
    fixture.lead.step(lead::FromWorker{kWorker, &hello});
    fixture.beat();
    fixture.settle();
    return fixture;
  };
  auto went_on = resumed_at(7);
  CHECK(went_on.plan[0].until == 20);  // of step 10: that of step 5 lies behind
  CHECK(last_granted(went_on) == 17);
  CHECK(went_on.lead.ledger().timeline == 1);
  auto at_a_cut = resumed_at(5);
  CHECK(at_a_cut.lead.ledger().cut == 0);  // by a report on the new plan
  CHECK(at_a_cut.plan[0].until == 10);
  auto unevaluated = resumed_at(11);  // beyond step 10, which the ledger has never seen evaluated
  CHECK(unevaluated.lead.ledger().timeline == 2);
  CHECK(unevaluated.lead.ledger().rollbacks.below_cut == 1);
}

TEST_CASE("where an older program's ledger names no cut, it is the newest regular one that all have come to") {
  const auto goes_on = [](ItemId reached) {
    auto older = again(0, {});
    older.memory.ledger.cut.reset();
    Fixture fixture(older);
    fixture.planned = 40;
    fixture.placement = 1;
    come_back(fixture, 0, {{1, 0}});
    come_back(fixture, 1, {{1, 0}});
    auto ahead = items_before(fixture, 0, 13);
    ahead.items.reached = reached;
    fixture.lane(0, ahead);
    fixture.lane(1, items_before(fixture, 1, 13));
    const Message hello = WorkerHello{"worker"};
    fixture.lead.step(lead::FromWorker{kWorker, &hello});
    fixture.beat();
    fixture.settle();
    return fixture.lead.ledger();
  };
  const auto ledger = goes_on(40);
  CHECK(ledger.timeline == 1);
  CHECK(ledger.cut == 10);
  const auto lost = goes_on(41);  // beyond the cut of step 20, before which shard 1 lacks some
  CHECK(lost.timeline == 2);
  CHECK(lost.cut == 0);
  CHECK(lost.rollbacks.below_cut == 1);
}

TEST_CASE("the last snapshot is ordered by the ledger as well") {
  auto stopping = journaled();
  stopping.snapshot_every = 0;
  stopping.validation_examples = 10;
  stopping.early_stop_patience = 1;
  Fixture fixture(stopping);
  come_to_barrier(fixture);
  fixture.evaluate(Split::validation, 5);
  fixture.planned = 40;
  report_items(fixture, 10);
  report_items(fixture, 20);
  fixture.written();
  for (const auto split : {Split::validation, Split::test}) {
    fixture.evaluate(split, 5);
    report_items(fixture, 20);
  }
  REQUIRE(fixture.lead.phase() == Lead::Phase::finishing);
  fixture.settle();
  report_items(fixture, 20);
  CHECK(fixture.lead.ledger().kept == std::vector<Step>{20});
  CHECK(fixture.plan[1].snapshots == std::vector<Step>{20});
}
