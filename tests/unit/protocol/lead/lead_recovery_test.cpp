// The lead through deaths of shards and its own: timelines, decisions, snapshots, evaluations.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using namespace ballast::two_shards;

namespace {

LeadConfig clipping() {
  auto clipping = config();
  clipping.decisions.norms = {{0}, {0}};
  clipping.decisions.norm_count = 1;
  clipping.decisions.scales = [](const std::vector<double>& sums) {
    return std::vector<float>(sums.begin(), sums.end());
  };
  return clipping;
}

ChunkMeasure measure(ChunkId chunk, Step step, double sum) { return {chunk, step, {sum}, true, 0, kNoSlot}; }

}  // namespace

TEST_CASE("a life that the timeline does not list begins a new one, confirmed only when the ledger is durable") {
  Fixture fixture(config());
  fixture.train();
  fixture.incarnations[1] = 2;
  auto actions = fixture.hello(1, 1);
  const auto* write = find<lead::WriteLedger>(actions);
  REQUIRE(write != nullptr);
  CHECK(write->change.ledger.timeline == 2);
  CHECK(write->change.ledger.base == SnapshotId{0, 0});
  CHECK(write->change.ledger.incarnations == std::vector<Incarnation>{1, 2});
  CHECK(write->change.ledger.rollbacks == RollbackCounts{.shard = 1});
  CHECK(write->change.trim_from == 0);
  CHECK(to_lanes<Confirm>(actions).empty());
  CHECK(to_lanes<Confirm>(fixture.hello(1, 1)).empty());
  CHECK(to_lanes<Confirm>(fixture.lane(0, fixture.state(0, 3))).empty());
  const auto confirms = to_lanes<Confirm>(fixture.written());
  REQUIRE(confirms.size() == 2);
  CHECK(confirms[0] == Confirm{1, 2, {0, 0}});
  CHECK(confirms[1] == Confirm{2, 2, {0, 0}});
}

TEST_CASE("the base is the newest complete snapshot, and stays when snapshots complete later") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(9);
  fixture.held = {{1, 10}};
  fixture.reports(10);
  fixture.written();
  CHECK(fixture.lead.ledger().complete == std::vector<SnapshotId>{{0, 0}, {1, 10}});
  fixture.incarnations[0] = 2;
  auto actions = fixture.hello(0, 1);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.base == SnapshotId{1, 10});
  fixture.written();
  fixture.held = {{1, 20}};  // of the older timeline: too late
  fixture.timeline = 2;
  fixture.reports(20);
  CHECK(fixture.lead.ledger().complete.back() == SnapshotId{1, 10});
  fixture.held = {{2, 20}};
  fixture.reports(20);
  fixture.written();
  CHECK(fixture.lead.ledger().complete.back() == SnapshotId{2, 20});
  CHECK(fixture.lead.ledger().base == SnapshotId{1, 10});
}

TEST_CASE("a snapshot is complete when all shards hold it, and older ones are listed as long as they are kept") {
  Fixture fixture(config());
  fixture.train();
  for (Step step = 10; step <= 30; step += 10) {
    fixture.held = {{1, step}};
    fixture.lane(0, fixture.state(0, step));
    CHECK(fixture.lead.ledger().complete.back().step == step - 10);
    fixture.lane(1, fixture.state(1, step));
    fixture.written();
    CHECK(fixture.lead.ledger().complete.back().step == step);
    fixture.written();
  }
  CHECK(fixture.lead.ledger().complete == std::vector<SnapshotId>{{1, 20}, {1, 30}});
}

TEST_CASE("a snapshot is not complete before the training loss up to it is known") {
  Fixture fixture(config());
  fixture.train();
  fixture.held = {{1, 10}};
  auto report = fixture.state(1, 10);
  report.statistics.clear();
  fixture.lane(0, fixture.state(0, 10));
  fixture.lane(1, report);
  fixture.written();
  CHECK(fixture.lead.ledger().complete.back().step == 0);
  fixture.lane(1, fixture.state(1, 10));
  fixture.written();
  CHECK(fixture.lead.ledger().complete.back().step == 10);
}

TEST_CASE("a restarted lead of a job in rounds takes it back, for shard 0 has begun another life with it") {
  Fixture before(config());
  before.train();
  Fixture fixture(started_again(before.lead.ledger()));
  fixture.incarnations[0] = 2;
  fixture.hello(1, 1, 7);
  const auto actions = fixture.hello(0, 1, 7);
  CHECK(to_lanes<Confirm>(actions).empty());
  const auto* written = find<lead::WriteLedger>(actions);
  REQUIRE(written != nullptr);
  CHECK(written->change.ledger.timeline == 2);
  CHECK(written->change.ledger.incarnations == std::vector<Incarnation>{2, 1});
  CHECK(written->change.ledger.rollbacks == RollbackCounts{.shard = 1});
  CHECK(written->change.ledger.rolled_back_steps == 7);
}

TEST_CASE("a lead that starts again tells where the job goes on from, before anybody has come") {
  Fixture before(config());
  before.train();
  before.reports(9);
  before.held = {{1, 10}};
  before.reports(10);
  before.written();
  const Fixture fixture(started_again(before.lead.ledger()));
  CHECK(fixture.lead.status().phase == JobPhase::recovering);
  CHECK(fixture.lead.status().step == 10);
}

TEST_CASE("a timeline in which nobody has trained is begun anew without being counted") {
  Fixture fixture(config());
  fixture.hello(0);
  fixture.hello(1);
  fixture.written();
  fixture.reports(0);
  const auto come_anew = [&] {
    fixture.incarnations[1] += 1;
    fixture.hello(1, fixture.timeline, 0);
    fixture.settle();
    fixture.timeline = fixture.lead.timeline();
    return fixture.lead.ledger().rollbacks;
  };
  CHECK(come_anew() == RollbackCounts{});
  CHECK(fixture.lead.ledger().timeline == 2);
  CHECK(come_anew() == RollbackCounts{});
  fixture.reports(0);
  const Message hello = WorkerHello{"worker"};
  fixture.lead.step(lead::FromWorker{kWorker, &hello});
  fixture.beat();
  fixture.settle();  // and it is given work
  CHECK(come_anew() == RollbackCounts{.shard = 1});
  CHECK(come_anew() == RollbackCounts{.shard = 1});
  CHECK(fixture.lead.ledger().rolled_back_steps == 0);
  CHECK(fixture.lead.status().rollbacks == 1);
}

TEST_CASE("what was trained under a lead before is known by statistics, a snapshot, a hello or a report") {
  Fixture before(config());
  before.train();
  const auto ledger = before.lead.ledger();
  const auto counted = [](const LeadConfig& again, Step by_hello, Step by_report, Timeline of = 1) {
    Fixture fixture(again);
    fixture.timeline = of;
    fixture.hello(0, of, by_hello);
    fixture.hello(1, of);
    fixture.lane(0, fixture.state(0, by_report));
    fixture.incarnations[1] = 2;
    fixture.hello(1, of);
    fixture.settle();
    CHECK(fixture.lead.ledger().timeline == again.memory.ledger.timeline + 1);
    return fixture.lead.ledger().rollbacks.total();
  };
  CHECK(counted(started_again(ledger), 0, 0) == 0);
  CHECK(counted(started_again(ledger), 1, 0) == 1);
  CHECK(counted(started_again(ledger), 0, 1) == 1);
  auto trained = started_again(ledger);
  trained.memory.statistics = {{0, 1, 1, 1}};
  trained.memory.statistics_next = 1;
  CHECK(counted(trained, 0, 0) == 1);
  auto kept = started_again(ledger);
  kept.memory.ledger.complete.push_back({1, 10});
  CHECK(counted(kept, 0, 0) == 1);
  auto newer = started_again(ledger);
  newer.memory.ledger.timeline = 2;  // of which the shards have not heard
  CHECK(counted(newer, 5, 5) == 0);
}

TEST_CASE("an empty ledger beside a shard that knows of a timeline is not taken for a new job, but waited for") {
  auto impatient = config();
  impatient.patience = 20'000 * kMilli;
  Fixture fixture(impatient);
  fixture.hello(0);
  auto began = fixture.hello_of(1, 3, 0);
  CHECK(to_lanes<Refused>(fixture.lane(1, began)).at(0).code == RefusalCode::not_taken);
  fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
  CHECK(fixture.lead.phase() == Lead::Phase::assembling);
  for (const auto* word : {"shard 0's ledger", "timeline 3", "ballast restore"}) {
    CHECK(fixture.lead.status().waits_for.find(word) != std::string::npos);
  }
  for (int i = 0; i < 250; ++i) {
    fixture.lane(1, began);
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
  }
  CHECK(fixture.lead.phase() == Lead::Phase::failed);
  CHECK(fixture.lead.status().failure.find("timeline 3") != std::string::npos);
}

TEST_CASE("a timeline's number is never met again, even if the ledger was brought back from a copy") {
  Fixture before(config());
  before.train();
  Fixture fixture(started_again(before.lead.ledger()));
  fixture.incarnations = {5, 5};
  fixture.hello(0, 8);
  const auto actions = fixture.hello(1, 8);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.timeline == 9);
}

TEST_CASE("hellos of one shard do not renew the patience with another that is missing") {
  Fixture before(config());
  before.train();
  auto again = started_again(before.lead.ledger());
  again.patience = 20'000 * kMilli;
  Fixture fixture(again);
  fixture.incarnations[0] = 2;
  for (int i = 0; i < 300; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    fixture.hello(0, 1);
  }
  CHECK(fixture.lead.phase() == Lead::Phase::failed);
  CHECK(fixture.lead.status().failure.find("shard 1") != std::string::npos);
}

TEST_CASE("the late hello of a dead life does not end the living one") {
  Fixture fixture(config());
  fixture.incarnations[0] = 3;
  fixture.hello(0);
  fixture.incarnations[0] = 2;  // said before life 3 began, and late
  fixture.hello(0);
  fixture.incarnations[0] = 3;
  CHECK(to_lanes<Refused>(fixture.hello(0)).empty());
  const auto actions = fixture.hello(1);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.incarnations == std::vector<Incarnation>{3, 1});
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.databases == std::vector<DatabaseLife>{{100, 3}, {101, 1}});
}

// ---- decisions

TEST_CASE("clipping: a step's factors come from all chunks, once, and no plan reaches beyond them") {
  Fixture fixture(clipping());
  fixture.train();
  CHECK(fixture.plan[0].factors.empty());
  auto first = fixture.state(0, 0);
  first.planned = 0;
  first.measures = {measure(0, 0, 2.0)};
  fixture.lane(0, first);
  CHECK(fixture.plan[0].factors.empty());
  auto second = fixture.state(1, 0);
  second.planned = 0;
  second.measures = {measure(1, 0, 3.0)};
  fixture.lane(1, second);
  REQUIRE(fixture.plan[0].factors.size() == 1);
  CHECK(fixture.plan[0].first == 0);
  CHECK(fixture.plan[0].factors[0].scales == std::vector<float>{5});
  // A measure that comes again, with other sums, decides nothing a second time.
  second.sequence = ++fixture.sequences[1];
  second.measures = {measure(1, 0, 30.0)};
  fixture.lane(1, second);
  CHECK(fixture.plan[1].factors[0].scales == std::vector<float>{5});
}

TEST_CASE("a plan that ends before an undecided step brings its prospect where lanes measure updates") {
  auto trust = clipping();
  trust.decisions.of_updates = true;
  trust.factors = [](Step, std::uint64_t updates) {
    StepFactors factors;
    factors.step_size = static_cast<float>(updates);
    return factors;
  };
  Fixture fixture(trust);
  fixture.train();
  CHECK(fixture.plan[0].factors.empty());
  CHECK(fixture.plan[0].prospect == Prospect{0, 1});
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    auto report = fixture.state(shard, 0);
    report.planned = 0;
    report.measures = {measure(shard, 0, 2.0)};
    fixture.lane(shard, report);
  }
  REQUIRE(fixture.plan[0].factors.size() == 1);
  CHECK(fixture.plan[0].prospect == Prospect{1, 1});
  Fixture plain(clipping());
  plain.train();
  CHECK_FALSE(plain.plan[0].prospect);
}

TEST_CASE("a gradient that is not finite: the job halts, naming slot and parameter") {
  Fixture fixture(config());
  fixture.train();
  auto report = fixture.state(0, 4);
  report.measures = {{0, 4, {}, false, 2, 1}};
  fixture.lane(1, fixture.state(1, 4));
  fixture.lane(0, report);
  CHECK(fixture.lead.phase() == Lead::Phase::failed);
  CHECK(fixture.lead.status().failure.find("step 4") != std::string::npos);
  CHECK(fixture.lead.status().failure.find("weight") != std::string::npos);
  CHECK(fixture.lead.status().failure.find("slot 1") != std::string::npos);
}

TEST_CASE("a gradient that is not finite: the step is skipped, said only when the ledger says so durably") {
  auto skipping = config();
  skipping.decisions.non_finite = NonFinite::skip;
  Fixture fixture(skipping);
  fixture.train();
  auto report = fixture.state(0, 0);
  report.planned = 0;
  report.measures = {{0, 0, {}, false, 2, 1}};
  const auto actions = fixture.lane(0, report);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.skipped == std::vector<StepRange>{{0, 1}});
  CHECK(fixture.plan[0].factors.empty());
  report.sequence = ++fixture.sequences[0];
  CHECK(find<lead::WriteLedger>(fixture.lane(0, report)) == nullptr);
  CHECK(fixture.plan[0].factors.empty());
  fixture.written();
  REQUIRE(fixture.plan[0].factors.size() == 1);
  CHECK(fixture.plan[0].factors[0].skip);
  CHECK(fixture.lead.status().skipped_steps == 1);
  // The next step is the first that changes the weights.
  auto next = fixture.state(0, 1);
  next.planned = 1;
  next.measures = {measure(0, 1, 1.0)};
  fixture.lane(0, next);
  auto last = fixture.state(1, 1);
  last.planned = 1;
  last.measures = {measure(1, 1, 1.0)};
  fixture.lane(1, last);
  REQUIRE(fixture.plan[1].factors.size() == 1);
  CHECK(fixture.plan[1].factors[0].learning_rate == 1);
  CHECK(fixture.plan[1].factors[0].step_size == 0);
}

TEST_CASE("a gradient that is not finite: back to the newest snapshot, and the steps to there are left out") {
  auto rolling = config();
  rolling.decisions.non_finite = NonFinite::rollback;
  Fixture fixture(rolling);
  fixture.train();
  auto report = fixture.state(0, 0);
  report.measures = {{0, 0, {}, false, 2, kNoSlot}};
  const auto actions = fixture.lane(0, report);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  const auto& ledger = find<lead::WriteLedger>(actions)->change.ledger;
  CHECK(ledger.timeline == 2);
  CHECK(ledger.skipped == std::vector<StepRange>{{0, 1}});
  CHECK(ledger.rollbacks == RollbackCounts{.non_finite = 1});
  CHECK(to_lanes<Confirm>(actions).empty());
  CHECK(to_lanes<Confirm>(fixture.written()).size() == 2);
  CHECK(fixture.lead.status().trouble.find("overflows") != std::string::npos);
}

// ---- snapshots that fail or are missed

TEST_CASE("a snapshot that could not be written is counted and told, and training goes on") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(9);
  auto report = fixture.state(0, 11);
  report.failed = {{1, 10}};
  report.trouble = "disk full";
  fixture.lane(0, report);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.lead.status().snapshots_missed == 1);
  CHECK(fixture.lead.status().trouble.find("disk full") != std::string::npos);
}

TEST_CASE("the final snapshot must be written: otherwise the job fails, and can be resumed") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(40);
  fixture.written();
  CHECK(fixture.lead.phase() == Lead::Phase::finishing);
  auto report = fixture.state(0, 40);
  report.failed = {{1, 40}};
  report.trouble = "disk full";
  fixture.lane(0, report);
  CHECK(fixture.lead.phase() == Lead::Phase::failed);
}

TEST_CASE("the end is said when the ledger that says so is durable") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(40);
  fixture.written();
  fixture.held = {{1, 40}};
  fixture.lane(0, fixture.state(0, 40));
  fixture.lane(1, fixture.state(1, 40));
  CHECK(fixture.lead.phase() == Lead::Phase::concluding);
  lead::Actions actions;
  for (int i = 0; i < 3 && to_lanes<Finish>(actions).empty(); ++i) {
    actions = fixture.written();
  }
  REQUIRE(to_lanes<Finish>(actions).size() == 2);
  CHECK(to_lanes<Finish>(actions)[0] == Finish{1, 40, Ending::finished, {}});
  CHECK(fixture.lead.ledger().finished == SnapshotId{1, 40});
}

// ---- evaluations

TEST_CASE("validation at every barrier, the test at the end only, and the best snapshot is kept") {
  auto validating = config();
  validating.snapshot_every = 0;
  validating.validation_examples = 10;
  validating.test_examples = 10;
  validating.early_stop_patience = 1;
  validating.keep_best = true;
  Fixture fixture(validating);
  fixture.train();
  fixture.reports(10);
  REQUIRE(fixture.order.evaluation);
  CHECK(fixture.order.evaluation->split == Split::validation);
  CHECK(fixture.order.evaluation->version == 10);
  fixture.evaluate(Split::validation, 5);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.plan[0].snapshots == std::vector<Step>{10});
  fixture.held = {{1, 10}};
  fixture.reports(20);
  fixture.evaluate(Split::validation, 5);  // no improvement: the job ends here
  REQUIRE(fixture.order.evaluation);
  CHECK(fixture.order.evaluation->split == Split::test);
  fixture.evaluate(Split::test, 4);
  fixture.reports(20);
  fixture.written();
  CHECK(fixture.lead.phase() == Lead::Phase::finishing);
  CHECK(fixture.lead.ledger().best == SnapshotId{1, 10});
  CHECK(fixture.lead.status().best.step == 10);
}

TEST_CASE("in rounds nobody goes beyond an evaluation before it is durable") {
  auto testing = config();
  testing.test_examples = 10;
  Fixture fixture(testing);
  fixture.train();
  fixture.reports(10);
  REQUIRE(fixture.order.evaluation);
  const Message result = EvaluationResult{1, Split::test, 0, 10, 1.0, 5, 10};
  fixture.lead.step(lead::FromWorker{kWorker, &result});
  fixture.reports(10);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.plan[0].until == 10);
  fixture.settle();
  fixture.reports(10);
  CHECK(fixture.plan[0].until == 20);
}

TEST_CASE("a result of an older timeline is not taken") {
  auto testing = config();
  testing.test_examples = 10;
  Fixture fixture(testing);
  fixture.train();
  fixture.reports(10);
  REQUIRE(fixture.order.evaluation);
  const Message stale = EvaluationResult{0, Split::test, 0, 10, 1.0, 5, 10};
  fixture.lead.step(lead::FromWorker{kWorker, &stale});
  CHECK(fixture.lead.phase() == Lead::Phase::evaluating);
  fixture.evaluate(Split::test, 5);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
}

TEST_CASE("a shard that stays away longer than the job's patience fails it, named") {
  auto impatient = config();
  impatient.patience = 20'000 * kMilli;
  Fixture fixture(impatient);
  fixture.train();
  for (int i = 0; i < 300; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    fixture.lane(0, fixture.state(0, 0));
  }
  CHECK(fixture.lead.phase() == Lead::Phase::failed);
  CHECK(fixture.lead.status().failure.find("shard 1") != std::string::npos);
}

TEST_CASE("who waits with the lead for another shard hears from it, though nothing that is not durable") {
  Fixture fixture(config());
  fixture.train();
  fixture.incarnations[1] = 2;
  const auto heard = [](const lead::Actions& actions) {
    const auto refusals = to_lanes<Refused>(actions);
    return refusals.size() == 1 && refusals[0].code == RefusalCode::not_serving;
  };
  CHECK(heard(fixture.hello(1, 1)));  // timeline 2 is not durable
  CHECK(heard(fixture.lane(0, fixture.state(0, 3))));
  CHECK(heard(fixture.hello(1, 1)));
}

// ---- shards that come back within a timeline
