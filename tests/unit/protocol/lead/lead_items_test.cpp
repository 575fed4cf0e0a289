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
    CHECK(fixture.lead.ledger().resumed_shards == (lives <= kMaxShardLives ? 1 : 0));
  }
}

TEST_CASE("a shard that comes back with less than was evaluated takes the job back") {
  for (const bool while_evaluating : {true, false}) {
    Fixture fixture(journaled());
    fixture.planned = 20;  // the plan ends at the barrier
    fixture.placement = 1;
    fixture.train();
    report_items(fixture, 10);
    fixture.written();
    REQUIRE(fixture.lead.phase() == Lead::Phase::evaluating);
    if (!while_evaluating) {
      fixture.evaluate(Split::test, 5);
      report_items(fixture, 10);
      fixture.written();
      REQUIRE(fixture.lead.phase() == Lead::Phase::training);
    }
    come_back(fixture, 1, {{1, 0}, {2, 7}});
    fixture.written();
    fixture.lane(0, items_before(fixture, 0, 10));
    CHECK(fixture.lead.status().timeline == 1);
    fixture.lane(1, items_before(fixture, 1, 9));
    CHECK(fixture.lead.status().timeline == 2);
    fixture.written();
    CHECK(fixture.lead.ledger().rollbacks == RollbackCounts{.below_cut = 1});
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

TEST_CASE("a shard that comes back with all that was evaluated goes on") {
  Fixture fixture(journaled());
  fixture.planned = 20;  // the plan ends at the barrier
  fixture.train();
  report_items(fixture, 10);
  fixture.written();
  REQUIRE(fixture.lead.phase() == Lead::Phase::evaluating);
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.written();
  report_items(fixture, 10);
  CHECK(fixture.lead.status().timeline == 1);
  CHECK(fixture.lead.phase() == Lead::Phase::evaluating);
  CHECK(fixture.lead.ledger().resumed_shards == 1);
}

TEST_CASE("a pause holds beyond what any chunk has reached, and further on if one passes that before it is whole") {
  Fixture fixture(journaled());
  fixture.planned = 20;  // the plan ends at the barrier
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
  CHECK(fixture.plan[0].snapshots == std::vector<Step>{7});
  reach(0, 14);
  CHECK(fixture.plan[0].snapshots == std::vector<Step>{7});
  reach(0, 16);
  CHECK(fixture.plan[1].snapshots == std::vector<Step>{12});
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

TEST_CASE("a restarted lead takes the job back if a shard lacks what another has built beyond") {
  auto again = journaled();
  again.memory.ledger.timeline = 1;
  again.memory.ledger.placement = 1;
  again.memory.ledger.incarnations = {1, 1};
  again.memory.ledger.complete = {{0, 0}};
  again.memory.ledger.provenance = two_shards::of_the_worker();
  for (const ItemId reached : {20, 21}) {
    Fixture fixture(again);
    fixture.planned = 20;  // both shards came back, too
    fixture.placement = 1;
    fixture.timeline = 1;
    come_back(fixture, 0, {{1, 0}});
    come_back(fixture, 1, {{1, 0}});
    const Message hello = WorkerHello{"worker"};
    fixture.lead.step(lead::FromWorker{kWorker, &hello});
    fixture.beat();
    fixture.client(Control::Command::pause);
    auto ahead = items_before(fixture, 0, 9);
    ahead.items.reached = reached;
    fixture.lane(0, ahead);
    fixture.plan.clear();
    fixture.lane(1, items_before(fixture, 1, 9));
    fixture.beat();
    CHECK(fixture.plan.empty() == (reached > 20));
    CHECK(fixture.lead.status().timeline == (reached > 20 ? 2 : 1));
    CHECK(fixture.lead.status().rollback_causes.below_cut == (reached > 20 ? 1 : 0));
  }
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

TEST_CASE("nobody works beyond a step to be kept before all have come to it, though the pause is over") {
  Fixture fixture(journaled());
  fixture.planned = 20;  // the plan ends at the barrier
  fixture.placement = 1;
  fixture.train();
  const auto last_granted = [&] {
    ItemId last = 0;
    for (const auto& grant : fixture.order.items.grants) {
      last = std::max(last, grant.item);
    }
    return last;
  };
  report_items(fixture, 1);
  fixture.client(Control::Command::pause);
  REQUIRE(fixture.plan[0].snapshots == std::vector<Step>{5});  // items 2 to 5 are granted
  fixture.client(Control::Command::resume);
  report_items(fixture, 4);
  CHECK(last_granted() == 9);
  fixture.lane(0, items_before(fixture, 0, 5));
  CHECK(last_granted() == 9);
  fixture.lane(1, items_before(fixture, 1, 5));
  fixture.beat();
  CHECK(last_granted() == 13);
}

TEST_CASE("an order by a lead before is kept if it still makes a cut") {
  auto again = journaled();
  again.memory.ledger.timeline = 1;
  again.memory.ledger.placement = 1;
  again.memory.ledger.incarnations = {1, 1};
  again.memory.ledger.complete = {{0, 0}};
  again.memory.ledger.provenance = two_shards::of_the_worker();
  for (const ItemId reached : {10, 11}) {
    Fixture fixture(again);
    fixture.planned = 20;
    fixture.placement = 1;
    fixture.held = {{1, 5}};
    come_back(fixture, 0, {{1, 0}});
    come_back(fixture, 1, {{1, 0}});
    for (const std::uint32_t shard : {0, 1}) {
      auto report = items_before(fixture, shard, 5);
      report.items.reached = reached;
      fixture.lane(shard, report);
    }
    fixture.written();
    const SnapshotId newest = fixture.lead.ledger().complete.back();
    CHECK(newest == (reached > 10 ? SnapshotId{0, 0} : SnapshotId{1, 5}));
  }
}

TEST_CASE("a shard that falls behind a snapshot's step, when others may have gone on, makes it no cut any more") {
  Fixture fixture(journaled());
  fixture.planned = 20;  // the plan ends at the barrier
  fixture.placement = 1;
  fixture.train();
  report_items(fixture, 1);
  fixture.client(Control::Command::pause);
  REQUIRE(fixture.plan[0].snapshots == std::vector<Step>{5});
  fixture.client(Control::Command::resume);
  fixture.held = {{1, 5}};
  fixture.lane(0, items_before(fixture, 0, 5));
  fixture.held = {};
  fixture.lane(1, items_before(fixture, 1, 5));
  fixture.beat();
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.written();
  fixture.lane(1, items_before(fixture, 1, 4));
  CHECK(fixture.plan[1].snapshots.empty());
  fixture.held = {{1, 5}};
  fixture.lane(1, items_before(fixture, 1, 5));
  fixture.settle();
  const SnapshotId newest = fixture.lead.ledger().complete.back();
  CHECK(newest == SnapshotId{0, 0});
  CHECK(fixture.lead.ledger().snapshots_missed == 1);
  CHECK(fixture.lead.status().timeline == 1);
}

TEST_CASE("a shard that is back and whose first report is lost may have fallen behind meanwhile") {
  for (const bool is_lost : {false, true}) {
    Fixture fixture(journaled());
    fixture.planned = 20;  // the plan ends at the barrier
    fixture.placement = 1;
    fixture.train();
    report_items(fixture, 1);
    fixture.client(Control::Command::pause);
    fixture.client(Control::Command::resume);
    fixture.held = {{1, 5}};
    fixture.lane(0, items_before(fixture, 0, 5));
    fixture.held = {};
    fixture.lane(1, items_before(fixture, 1, 5));
    come_back(fixture, 1, {{1, 0}, {2, 7}});
    fixture.written();
    fixture.sequences[1] = is_lost ? 1 : 0;
    fixture.held = {{1, 5}};
    fixture.lane(1, items_before(fixture, 1, 5));
    fixture.settle();
    const SnapshotId newest = fixture.lead.ledger().complete.back();
    CHECK(newest == (is_lost ? SnapshotId{0, 0} : SnapshotId{1, 5}));
  }
}

TEST_CASE("the last snapshot is a cut whatever fell behind before: nobody goes on there") {
  auto stopping = journaled();
  stopping.validation_examples = 10;
  stopping.early_stop_patience = 1;
  Fixture fixture(stopping);
  fixture.planned = 20;
  fixture.placement = 1;
  fixture.train();
  report_items(fixture, 10);
  fixture.written();
  fixture.evaluate(Split::validation, 5);
  report_items(fixture, 10);
  fixture.planned = 40;
  report_items(fixture, 20);
  fixture.written();
  fixture.sequences[1] = 0;
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.written();
  fixture.sequences[1] = 1;  // the first report is lost
  fixture.placement = 2;
  report_items(fixture, 20);
  fixture.beat();
  for (const auto split : {Split::validation, Split::test}) {
    fixture.evaluate(split, 5);
    report_items(fixture, 20);
  }
  REQUIRE(fixture.lead.phase() == Lead::Phase::finishing);
  report_items(fixture, 20);
  CHECK(fixture.lead.phase() == Lead::Phase::finishing);
  CHECK(fixture.plan[1].snapshots == std::vector<Step>{20});
}

TEST_CASE("nor does a restarted lead take such a snapshot, though it is one of a barrier") {
  auto again = journaled();
  again.test_examples = 0;
  again.memory.ledger.timeline = 1;
  again.memory.ledger.placement = 1;
  again.memory.ledger.incarnations = {1, 1};
  again.memory.ledger.complete = {{0, 0}};
  again.memory.ledger.provenance = two_shards::of_the_worker();
  Fixture fixture(again);
  fixture.planned = 40;
  fixture.placement = 1;
  come_back(fixture, 0, {{1, 0}});
  come_back(fixture, 1, {{1, 0}});
  const auto report = [&](std::uint32_t shard, Step open, bool holds) {
    fixture.held = holds ? std::vector<SnapshotId>{{1, 10}} : std::vector<SnapshotId>{};
    auto state = items_before(fixture, shard, open);
    state.items.reached = 2 * open;
    fixture.lane(shard, state);
  };
  report(0, 11, true);
  report(1, 11, false);
  const Message hello = WorkerHello{"worker"};
  fixture.lead.step(lead::FromWorker{kWorker, &hello});
  fixture.beat();
  come_back(fixture, 1, {{1, 0}, {2, 7}});
  fixture.written();
  report(0, 12, true);
  report(1, 9, false);
  report(1, 10, true);
  fixture.written();
  const SnapshotId newest = fixture.lead.ledger().complete.back();
  CHECK(newest == SnapshotId{0, 0});
  CHECK(fixture.lead.status().timeline == 1);
}
