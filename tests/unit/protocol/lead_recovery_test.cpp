// The lead through deaths of shards and its own: timelines, decisions, snapshots, evaluations, pauses.
#include <doctest/doctest.h>

#include "common/protocol/lead.h"

using namespace ballast;

namespace {

constexpr Micros kMilli = 1'000;
constexpr SessionId kWorker = 9;

LeadConfig config() {
  LeadConfig config;
  config.shards = 2;
  config.slots = 2;
  config.steps = 40;
  config.steps_per_epoch = 40;
  config.evaluate_every = 10;
  config.snapshot_every = 10;
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.factors = [](Step step, std::uint64_t updates) {
    StepFactors factors;
    factors.learning_rate = static_cast<float>(step);
    factors.step_size = static_cast<float>(updates);
    return factors;
  };
  config.decisions.chunks = 2;
  config.parameter_name = [](std::uint32_t) { return std::string("weight"); };
  return config;
}

LeadConfig clipping() {
  auto clipping = config();
  clipping.decisions.norms = {{0}, {0}};
  clipping.decisions.norm_count = 1;
  clipping.decisions.scale = [](double sum) { return static_cast<float>(sum); };
  return clipping;
}

// A lead with two shards of one lane and one worker, all of whose messages the test writes itself. Shard 1 owns the
// statistics.
class Fixture {
 public:
  explicit Fixture(LeadConfig lead_config) : lead(std::move(lead_config)) { lead.step(lead::Tick{now}); }

  lead::Actions lane(std::uint32_t shard, const Message& message) {
    return keep(lead.step(lead::FromLane{{shard, 0}, incarnations[shard], &message}));
  }
  lead::Actions hello(std::uint32_t shard, Timeline known = 0, Step reached = 0) {
    return lane(shard, ShardHello{{shard, 0}, 2, 1, incarnations[shard], "spec", "layout", "here", known, reached});
  }
  lead::Actions written() { return keep(lead.step(lead::LedgerWritten{})); }
  lead::Actions client(Control::Command command) { return keep(lead.step(lead::FromClient{command})); }
  LaneReport state(std::uint32_t shard, Step open) {
    LaneReport report;
    report.lane = {shard, 0};
    report.incarnation = incarnations[shard];
    report.sequence = ++sequences[shard];
    report.timeline = timeline;
    report.serving = true;
    report.open_step = open;
    report.missing = {3};
    report.planned = planned;
    report.held = held;
    if (shard == 1) {
      for (Step step = 0; step < open; ++step) {
        report.statistics.push_back({step, 1, 1, 1});
      }
    }
    return report;
  }
  void reports(Step open) {
    lane(0, state(0, open));
    lane(1, state(1, open));
  }
  lead::Actions beat() {
    Heartbeat beat;
    beat.ready = true;
    beat.timeline = timeline;
    beat.placement = placement;
    const Message message = beat;
    return keep(lead.step(lead::FromWorker{kWorker, &message}));
  }
  // Both shards' hellos, the ledger, their reports, a worker.
  void train(Step open = 0) {
    hello(0, timeline - 1);
    hello(1, timeline - 1);
    written();
    reports(open);
    const Message hello = WorkerHello{"worker"};
    lead.step(lead::FromWorker{kWorker, &hello});
    beat();
  }
  void evaluate(Split split, std::uint64_t correct) {
    EvaluationResult result{timeline, split, 0, order.evaluation.value().version, 1.0, correct, 10};
    const Message message = result;
    keep(lead.step(lead::FromWorker{kWorker, &message}));
    written();
  }

  Lead lead;
  Micros now = 5'000'000;
  Timeline timeline = 1;
  Version planned = 1'000;  // by every shard
  std::uint64_t placement = 0;
  std::map<std::uint32_t, std::uint64_t> sequences;  // of reports, by shard
  std::vector<Incarnation> incarnations = {1, 1};
  std::vector<SnapshotId> held;
  Assign order;                        // the newest
  std::map<std::uint32_t, Plan> plan;  // the newest to each shard

 private:
  lead::Actions keep(lead::Actions actions) {
    for (const auto& action : actions) {
      if (const auto* send = std::get_if<lead::SendToWorker>(&action)) {
        if (const auto* assign = std::get_if<Assign>(&send->message)) {
          order = *assign;
        }
      } else if (const auto* to_lane = std::get_if<lead::SendToLane>(&action)) {
        if (const auto* newest = std::get_if<Plan>(&to_lane->message)) {
          plan[to_lane->lane.shard] = *newest;
        }
      }
    }
    return actions;
  }
};

template <typename Action>
const Action* find(const lead::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* found = std::get_if<Action>(&action)) {
      return found;
    }
  }
  return nullptr;
}

template <typename Body>
std::vector<Body> to_lanes(const lead::Actions& actions) {
  std::vector<Body> found;
  for (const auto& action : actions) {
    if (const auto* send = std::get_if<lead::SendToLane>(&action)) {
      if (const auto* body = std::get_if<Body>(&send->message)) {
        found.push_back(*body);
      }
    }
  }
  return found;
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
  CHECK(write->change.ledger.rollbacks == 1);
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

TEST_CASE("a restarted lead confirms the lives that its ledger lists in the same timeline") {
  Fixture before(config());
  before.train();
  auto again = config();
  again.memory.ledger = before.lead.ledger();
  Fixture fixture(again);
  fixture.hello(0, 1, 7);
  const auto actions = fixture.hello(1, 1, 7);
  CHECK(find<lead::WriteLedger>(actions) == nullptr);
  REQUIRE(to_lanes<Confirm>(actions).size() >= 2);
  for (const auto& confirm : to_lanes<Confirm>(actions)) {
    CHECK(confirm == Confirm{1, 1, {0, 0}});
  }
  fixture.train(7);
  CHECK(fixture.lead.status().timeline == 1);
  CHECK(fixture.lead.status().step == 7);
}

TEST_CASE("an empty ledger beside a shard that knows of a timeline is not taken for a new job") {
  Fixture fixture(config());
  fixture.hello(0, 3);
  CHECK(fixture.lead.phase() == Lead::Phase::failed);
  CHECK(fixture.lead.status().failure.find("timeline 3") != std::string::npos);
}

TEST_CASE("a timeline's number is never met again, even if the ledger was brought back from a copy") {
  Fixture before(config());
  before.train();
  auto again = config();
  again.memory.ledger = before.lead.ledger();
  Fixture fixture(again);
  fixture.incarnations = {5, 5};
  fixture.hello(0, 8);
  const auto actions = fixture.hello(1, 8);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.timeline == 9);
}

TEST_CASE("hellos of one shard do not renew the patience with another that is missing") {
  Fixture before(config());
  before.train();
  auto again = config();
  again.memory.ledger = before.lead.ledger();
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

TEST_CASE("the late hello of a dead life does not end the living one, which gets its place back") {
  Fixture fixture(config());
  fixture.incarnations[0] = 3;
  fixture.hello(0);
  fixture.incarnations[0] = 2;  // said before life 3 began, and late
  fixture.hello(0);
  fixture.incarnations[0] = 3;
  bool refused = false;
  for (int i = 0; i < 20; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    refused = refused || !to_lanes<Refused>(fixture.hello(0)).empty();
  }
  CHECK_FALSE(refused);
  const auto actions = fixture.hello(1);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  CHECK(find<lead::WriteLedger>(actions)->change.ledger.incarnations == std::vector<Incarnation>{3, 1});
}

TEST_CASE("of two lives that both speak the newer one stays, and the other is told to end") {
  Fixture fixture(config());
  bool refused = false;
  for (int i = 0; i < 30; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    for (const Incarnation life : {2U, 3U}) {
      fixture.incarnations[0] = life;
      const auto refusals = to_lanes<Refused>(fixture.hello(0));
      refused = refused || !refusals.empty();
      CHECK((refusals.empty() || life == 2));
    }
  }
  CHECK(refused);
}

TEST_CASE("a shard that comes back while the end is being made durable begins no timeline") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(40);
  fixture.written();
  fixture.held = {{1, 40}};
  fixture.reports(40);
  REQUIRE(fixture.lead.phase() == Lead::Phase::concluding);
  fixture.incarnations[1] = 2;
  fixture.hello(1, 1);
  lead::Actions actions;
  for (int i = 0; i < 3 && to_lanes<Finish>(actions).empty(); ++i) {
    actions = fixture.written();
  }
  CHECK(to_lanes<Finish>(actions).size() == 2);
  CHECK(fixture.lead.ledger().timeline == 1);
  CHECK(fixture.lead.phase() == Lead::Phase::finished);
}

TEST_CASE("a restarted lead's orders have numbers that none of its earlier life's can have") {
  Fixture before(config());
  before.train();
  auto again = config();
  again.memory.ledger = before.lead.ledger();
  again.life = 77;
  Fixture fixture(again);
  fixture.train();
  CHECK(fixture.order.order > before.order.order + 1'000'000);
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

TEST_CASE("a restarted lead adopts what a shard reports as decided") {
  Fixture before(clipping());
  before.train();
  auto again = clipping();
  again.memory.ledger = before.lead.ledger();
  Fixture fixture(again);
  fixture.train();
  auto used = fixture.state(0, 4);
  StepFactors factors;
  factors.scales = {0.25F};
  used.decided = {{3, factors}};
  used.measures = {measure(0, 3, 1.0)};
  fixture.lane(0, used);
  auto behind = fixture.state(1, 3);
  behind.planned = 3;
  behind.measures = {measure(1, 3, 9.0)};
  fixture.lane(1, behind);
  REQUIRE(fixture.plan[1].factors.size() == 1);
  CHECK(fixture.plan[1].first == 3);
  CHECK(fixture.plan[1].factors[0] == factors);
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
  skipping.decisions.non_finite = NonFinitePolicy::skip;
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
  rolling.decisions.non_finite = NonFinitePolicy::rollback;
  Fixture fixture(rolling);
  fixture.train();
  auto report = fixture.state(0, 0);
  report.measures = {{0, 0, {}, false, 2, kNoSlot}};
  const auto actions = fixture.lane(0, report);
  REQUIRE(find<lead::WriteLedger>(actions) != nullptr);
  const auto& ledger = find<lead::WriteLedger>(actions)->change.ledger;
  CHECK(ledger.timeline == 2);
  CHECK(ledger.skipped == std::vector<StepRange>{{0, 1}});
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

// ---- pauses and stops

TEST_CASE("a pause holds at a snapshot that nobody has passed, and resuming goes on from there") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  CHECK(fixture.lead.status().phase == "pausing");
  CHECK(fixture.order.standing.until == 5);
  CHECK(std::find(fixture.plan[0].snapshots.begin(), fixture.plan[0].snapshots.end(), 5) !=
        fixture.plan[0].snapshots.end());
  fixture.held = {{1, 5}};
  fixture.reports(5);
  fixture.written();
  fixture.reports(5);
  CHECK(fixture.lead.status().phase == "paused");
  fixture.client(Control::Command::resume);
  CHECK(fixture.lead.status().phase == "training");
  CHECK(fixture.order.standing.until == 40);
}

TEST_CASE("a stop ends the job when its snapshot is durable in the ledger") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::stop);
  fixture.held = {{1, 5}};
  fixture.reports(5);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK_FALSE(to_lanes<Finish>(fixture.written()).empty());
  CHECK(fixture.lead.phase() == Lead::Phase::stopped);
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

TEST_CASE("a pause whose version the shards have passed already holds further on") {
  Fixture fixture(config());
  fixture.train();
  fixture.reports(3);
  fixture.client(Control::Command::pause);
  fixture.reports(7);
  CHECK(fixture.lead.status().phase == "pausing");
  CHECK(fixture.order.standing.until > 7);
  CHECK(fixture.order.standing.until < 40);
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

namespace {

LeadConfig journaled() {
  auto journaled = config();
  journaled.ledgered = LedgeredCourse{0, 4, true};
  journaled.test_examples = 10;
  return journaled;
}

// All items before `open` are covered.
LaneReport items_before(Fixture& fixture, std::uint32_t shard, Step open) {
  auto report = fixture.state(shard, open);
  report.covered = {{0, 2 * open}};
  return report;
}

void report_items(Fixture& fixture, Step open) {
  fixture.lane(0, items_before(fixture, 0, open));
  fixture.lane(1, items_before(fixture, 1, open));
}

lead::Actions come_back(Fixture& fixture, std::uint32_t shard, std::vector<ShardLife> lives) {
  const auto life = fixture.incarnations[shard] = lives.back().incarnation;
  fixture.sequences[shard] = 0;
  return fixture.lane(shard, ShardHello{{shard, 0}, 2, 1, life, "spec", "layout", "here", 1, 0, std::move(lives)});
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
    CHECK(fixture.lead.ledger().rollbacks == 1);
  }
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
    report.reached = reached;
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

TEST_CASE("a restarted lead takes the job back if a shard lacks what another has built beyond") {
  auto again = journaled();
  again.memory.ledger.timeline = 1;
  again.memory.ledger.placement = 1;
  again.memory.ledger.incarnations = {1, 1};
  again.memory.ledger.complete = {{0, 0}};
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
    ahead.reached = reached;
    fixture.lane(0, ahead);
    fixture.plan.clear();
    fixture.lane(1, items_before(fixture, 1, 9));
    fixture.beat();
    CHECK(fixture.plan.empty() == (reached > 20));
    CHECK(fixture.lead.status().timeline == (reached > 20 ? 2 : 1));
  }
}

TEST_CASE(
    "a life without the journal, in the place of one that speaks, does not take the job back: it may be a dead one") {
  Fixture fixture(journaled());
  fixture.planned = 20;
  fixture.placement = 1;
  fixture.train();
  const auto hello_of_life = [&](Incarnation life) {
    fixture.incarnations[1] = life;
    const auto actions = fixture.hello(1);
    fixture.incarnations[1] = 1;
    return actions;
  };
  for (int i = 0; i < 10; ++i) {
    fixture.lead.step(lead::Tick{fixture.now += 100 * kMilli});
    report_items(fixture, 0);
    CHECK(hello_of_life(2).empty());
    CHECK(fixture.lead.status().timeline == 1);
  }
  fixture.lead.step(lead::Tick{fixture.now += 600 * kMilli});  // life 1 speaks no longer
  hello_of_life(2);
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
    for (const auto& grant : fixture.order.grants) {
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
  for (const ItemId reached : {10, 11}) {
    Fixture fixture(again);
    fixture.planned = 20;
    fixture.placement = 1;
    fixture.held = {{1, 5}};
    come_back(fixture, 0, {{1, 0}});
    come_back(fixture, 1, {{1, 0}});
    for (const std::uint32_t shard : {0, 1}) {
      auto report = items_before(fixture, shard, 5);
      report.reached = reached;
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
  fixture.written();
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
    fixture.written();
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
  Fixture fixture(again);
  fixture.planned = 40;
  fixture.placement = 1;
  come_back(fixture, 0, {{1, 0}});
  come_back(fixture, 1, {{1, 0}});
  const auto report = [&](std::uint32_t shard, Step open, bool holds) {
    fixture.held = holds ? std::vector<SnapshotId>{{1, 10}} : std::vector<SnapshotId>{};
    auto state = items_before(fixture, shard, open);
    state.reached = 2 * open;
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
