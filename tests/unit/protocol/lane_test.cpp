#include "common/protocol/lane.h"

#include <doctest/doctest.h>

#include "common/protocol/round.h"

using namespace ballast;

namespace {

constexpr SessionId kWorker = 9;

LaneConfig config() {
  LaneConfig config;
  config.id = {1, 0};
  config.shards = 2;
  config.slots = 4;
  config.steps = 5;
  config.chunks = {{3, 100, false}, {5, 40, true}};
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.address = "here";
  config.reply_window_bytes = 150;
  return config;
}

StepFactors rate(float learning_rate) {
  StepFactors factors;
  factors.learning_rate = learning_rate;
  return factors;
}

Plan plan(Timeline timeline, Step first, std::size_t steps, std::vector<Step> snapshots = {},
          std::vector<SnapshotId> keep = {}) {
  return {timeline, first, std::vector<StepFactors>(steps, rate(0.5F)), std::move(snapshots), std::move(keep), {}, 0};
}

// A lane that serves timeline 1 and knows factors for all its steps, and a session that has said hello.
class Fixture {
 public:
  explicit Fixture(LaneConfig lane_config = config()) : lane(std::move(lane_config)) {
    lane.step(lane::Tick{1'000});
    begin(1, {0, 0});
    lead(plan(1, 0, 5));
    from_worker(kWorker, LaneHello{"worker", "spec", "layout"});
  }

  lane::Actions begin(Timeline timeline, SnapshotId base) {
    lead(Confirm{1, timeline, base});
    return lane.step(lane::Begun{timeline});
  }

  lane::Actions lead(const Message& message) { return lane.step(lane::FromLead{&message}); }
  lane::Actions from_worker(SessionId session, const Message& message) {
    return lane.step(lane::FromWorker{session, &message, kNoPayload, 0});
  }
  lane::Actions push(Step step, ChunkId chunk, Node node, std::uint64_t bytes, Timeline timeline = 1,
                     bool want_next = false, SessionId session = kWorker) {
    const Message message = Push{timeline, step, chunk, node, want_next, fault, {}};
    return measured(lane.step(lane::FromWorker{session, &message, ++last_payload, bytes}));
  }

  // Answers what is to be measured, as the shell does before anything else.
  lane::Actions measured(lane::Actions actions) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (const auto* measure = std::get_if<lane::Measure>(&actions[i])) {
        const ChunkMeasure found{measure->chunk, measure->step, {2.0}, finite, 4, kNoSlot};
        const auto more = lane.step(lane::Measured{found});
        actions.insert(actions.end(), more.begin(), more.end());
      }
    }
    return actions;
  }

  Lane lane;
  PayloadId last_payload = 0;
  bool finite = true;    // what the shell finds when it measures
  Slot fault = kNoSlot;  // what workers say
};

template <typename Action>
const Action* find(const lane::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* found = std::get_if<Action>(&action)) {
      return found;
    }
  }
  return nullptr;
}

template <typename Body>
const Body* find_to_worker(const lane::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* send = std::get_if<lane::SendToWorker>(&action)) {
      if (const auto* body = std::get_if<Body>(&send->message)) {
        return body;
      }
    }
  }
  return nullptr;
}

template <typename Body>
const Body* find_to_lead(const lane::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* send = std::get_if<lane::SendToLead>(&action)) {
      if (const auto* body = std::get_if<Body>(&send->message)) {
        return body;
      }
    }
  }
  return nullptr;
}

// A refused push: told so, its payload dropped, and nothing else.
void check_refused(Fixture& fixture, const lane::Actions& actions, RefusalCode code, const std::string& naming) {
  REQUIRE(actions.size() == 2);
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == code);
  CHECK(refused->text.find(naming) != std::string::npos);
  const auto* drop = find<lane::Drop>(actions);
  REQUIRE(drop != nullptr);
  CHECK(drop->payload == fixture.last_payload);
  CHECK(fixture.lane.held_payloads() == 0);
}

}  // namespace

TEST_CASE("a push that cannot be is refused, names what is wrong and changes nothing") {
  Fixture fixture;
  check_refused(fixture, fixture.push(0, 4, {0, 1}, 100), RefusalCode::wrong_target, "chunk 4");
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 99), RefusalCode::out_of_range, "99");
  check_refused(fixture, fixture.push(0, 3, {1, 3}, 100), RefusalCode::out_of_range, "[1, 3)");
  check_refused(fixture, fixture.push(0, 3, {2, 2}, 100), RefusalCode::out_of_range, "[2, 2)");
  check_refused(fixture, fixture.push(0, 3, {3, 1}, 100), RefusalCode::out_of_range, "[3, 1)");
  check_refused(fixture, fixture.push(0, 3, {0, 4'000'000'000U}, 100), RefusalCode::out_of_range, "no node");
  check_refused(fixture, fixture.push(1, 3, {0, 1}, 100), RefusalCode::out_of_range, "step 1");
  check_refused(fixture, fixture.push(~Step{0}, 3, {0, 1}, 100), RefusalCode::out_of_range, "chunk 3");
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 100, 2), RefusalCode::not_serving, "timeline 1");
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 100, 1, false, 77), RefusalCode::unknown_session, "hello");
  CHECK(fixture.lane.counters().refused == 10);
  CHECK(fixture.lane.counters().accepted == 0);
}

TEST_CASE("a push of an older timeline is told the current one") {
  Fixture fixture;
  const auto actions = fixture.push(0, 3, {0, 1}, 100, 0);
  const auto* stale = find_to_worker<Stale>(actions);
  REQUIRE(stale != nullptr);
  CHECK(stale->timeline == 1);
  CHECK(find<lane::Drop>(actions) != nullptr);
  CHECK(fixture.lane.counters().stale == 1);
}

TEST_CASE("before the timeline has begun nothing is served") {
  Lane lane(config());
  const Message hello = LaneHello{"worker", "spec", "layout"};
  const Message pull = Pull{1, 0, {3}};
  lane.step(lane::Tick{1'000});
  lane.step(lane::FromWorker{kWorker, &hello, kNoPayload, 0});
  const auto actions = lane.step(lane::FromWorker{kWorker, &pull, kNoPayload, 0});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::not_serving);
}

TEST_CASE("a hello of another job is refused") {
  Fixture fixture;
  for (const auto& hello : {LaneHello{"worker", "other", "layout"}, LaneHello{"worker", "spec", "other"}}) {
    const auto actions = fixture.from_worker(44, hello);
    const auto* refused = find_to_worker<Refused>(actions);
    REQUIRE(refused != nullptr);
    CHECK(refused->code == RefusalCode::wrong_job);
  }
  CHECK(fixture.lane.sessions() == 1);
}

TEST_CASE("pulls that cannot be are refused") {
  Fixture fixture;
  auto actions = fixture.from_worker(kWorker, Pull{1, 0, {4}});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::wrong_target);
  actions = fixture.from_worker(kWorker, Pull{1, 6, {3}});
  refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::out_of_range);
  actions = fixture.from_worker(kWorker, WorkerHello{"worker"});
  refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::wrong_target);
}

TEST_CASE("no more sessions than there is room for, unless one has long been silent") {
  auto small = config();
  small.session_memory = 1'000'000;
  Fixture fixture(small);
  for (SessionId id = 100; fixture.lane.sessions() < kMaxSessions; ++id) {
    fixture.from_worker(id, LaneHello{"worker", "spec", "layout"});
  }
  auto actions = fixture.from_worker(5'000, LaneHello{"worker", "spec", "layout"});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::too_many);
  fixture.lane.step(lane::Tick{2'000'000});
  actions = fixture.from_worker(5'000, LaneHello{"worker", "spec", "layout"});
  CHECK(find_to_worker<LaneWelcome>(actions) != nullptr);
  CHECK(fixture.lane.sessions() == kMaxSessions);
}

TEST_CASE("a lane takes as many sessions as it may") {
  auto small = config();
  small.max_sessions = 2;
  Fixture fixture(small);
  while (fixture.lane.sessions() < 2) {
    fixture.from_worker(100 + fixture.lane.sessions(), LaneHello{"worker", "spec", "layout"});
  }
  const auto actions = fixture.from_worker(5'000, LaneHello{"worker", "spec", "layout"});
  const auto* refused = find_to_worker<Refused>(actions);
  REQUIRE(refused != nullptr);
  CHECK(refused->text == "the lane has 2 sessions already");
}

TEST_CASE("a full round is applied, the next version answers who waits for it, the older one stays") {
  Fixture fixture;
  auto actions = fixture.from_worker(kWorker, Pull{1, 1, {3}});
  CHECK(actions.empty());
  fixture.push(0, 3, {0, 2}, 100);
  actions = fixture.push(0, 3, {2, 4}, 100);
  const auto* sum = find<lane::Sum>(actions);
  const auto* apply = find<lane::Apply>(actions);
  REQUIRE(sum != nullptr);
  REQUIRE(apply != nullptr);
  CHECK(sum->join.into == 1);
  CHECK(sum->join.with == 2);
  CHECK(apply->root == 1);
  CHECK(apply->step == 0);
  CHECK(apply->factors == rate(0.5F));
  const auto* weights = find<lane::SendWeights>(actions);
  REQUIRE(weights != nullptr);
  CHECK(weights->header.version == 1);
  fixture.lane.step(lane::RepliesReleased{kWorker, 100});
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  weights = find<lane::SendWeights>(actions);
  REQUIRE(weights != nullptr);
  CHECK(weights->header.version == 0);
  CHECK(fixture.lane.counters().served_older == 1);
}

TEST_CASE("a version older than the two that are kept is gone") {
  Fixture fixture;
  for (Step step = 0; step < 2; ++step) {
    fixture.push(step, 3, {0, 4}, 100);
    fixture.push(step, 5, {0, 4}, 40);
  }
  CHECK(fixture.lane.open_step() == 2);
  const auto actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  const auto* gone = find_to_worker<Gone>(actions);
  REQUIRE(gone != nullptr);
  CHECK(*gone == Gone{1, 3, 0, 2});
}

TEST_CASE("a contribution to a closed step is a duplicate and gets its receipt") {
  Fixture fixture;
  fixture.push(0, 3, {0, 4}, 100);
  const auto actions = fixture.push(0, 3, {0, 1}, 100);
  const auto* receipt = find_to_worker<Receipt>(actions);
  REQUIRE(receipt != nullptr);
  CHECK(receipt->outcome == ReceiptOutcome::duplicate);
  CHECK(find<lane::Drop>(actions) != nullptr);
}

TEST_CASE("replies beyond the window wait for the transport to let go of earlier ones") {
  Fixture fixture;
  auto actions = fixture.from_worker(kWorker, Pull{1, 0, {3, 5}});
  CHECK(actions.size() == 2);  // 140 of 150 bytes
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  CHECK(actions.empty());
  CHECK(fixture.lane.deferred_replies() == 1);
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  CHECK(fixture.lane.deferred_replies() == 1);
  actions = fixture.lane.step(lane::RepliesReleased{kWorker, 100});
  const auto* weights = find<lane::SendWeights>(actions);
  REQUIRE(weights != nullptr);
  CHECK(weights->header.chunk == 3);
  CHECK(fixture.lane.deferred_replies() == 0);
}

TEST_CASE("a covered chunk without factors waits, asks once, and is applied when they come") {
  auto one = config();
  one.chunks = {{3, 100, false}};
  Fixture fixture(one);
  fixture.begin(2, {1, 0});  // knows no factors
  auto actions = fixture.push(0, 3, {0, 4}, 100, 2);
  CHECK(find<lane::Apply>(actions) == nullptr);
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  CHECK(report->planned == 0);
  actions = fixture.push(0, 3, {0, 1}, 100, 2);
  CHECK(find_to_lead<LaneReport>(actions) == nullptr);
  CHECK(fixture.lane.counters().waited_for_factors == 1);
  CHECK(find<lane::Apply>(fixture.lead(plan(1, 0, 1))) == nullptr);  // of an older timeline
  CHECK(find<lane::Apply>(fixture.lead(plan(2, 0, 1))) != nullptr);
}

TEST_CASE("a plan that decides on many chunks at once is carried out a bounded number of bytes at a time") {
  auto lane_config = config();
  lane_config.chunks = {{0, 100, false}, {1, 100, false}, {2, 100, false}, {3, 100, false}, {4, 40, true}};
  lane_config.event_bytes = 150;  // two chunks are the first not to be below it
  Fixture fixture(lane_config);
  for (ChunkId chunk = 0; chunk < 5; ++chunk) {
    fixture.push(0, chunk, {0, 4}, chunk == 4 ? 40 : 100);
  }
  fixture.lead(Confirm{1, 2, {1, 1}});
  fixture.lane.step(lane::Begun{2});
  for (ChunkId chunk = 0; chunk < 5; ++chunk) {  // at step 1 of the new timeline, which has no plan yet
    CHECK(find<lane::Apply>(fixture.push(1, chunk, {0, 4}, chunk == 4 ? 40 : 100, 2)) == nullptr);
  }
  CHECK_FALSE(fixture.lane.has_more());
  std::vector<std::vector<ChunkId>> applied;
  const auto note = [&](const lane::Actions& actions) {
    applied.emplace_back();
    for (const auto& action : actions) {
      if (const auto* apply = std::get_if<lane::Apply>(&action)) {
        applied.back().push_back(apply->chunk);
      }
    }
  };
  note(fixture.lead(plan(2, 1, 4)));
  while (fixture.lane.has_more()) {
    REQUIRE(applied.size() < 9);
    note(fixture.lane.step(lane::GoOn{}));
  }
  CHECK(applied == std::vector<std::vector<ChunkId>>{{0, 1}, {2, 3}, {4}});
  CHECK(fixture.lane.open_step() == 2);
}

TEST_CASE("what a plan has decided and is still to be applied is forgotten with its timeline") {
  auto lane_config = config();
  lane_config.event_bytes = 1;
  Fixture fixture(lane_config);
  fixture.lead(Confirm{1, 2, {1, 0}});
  fixture.lane.step(lane::Begun{2});
  fixture.push(0, 3, {0, 4}, 100, 2);
  fixture.push(0, 5, {0, 4}, 40, 2);
  CHECK(find<lane::Apply>(fixture.lead(plan(2, 0, 5))) != nullptr);
  CHECK(fixture.lane.has_more());
  fixture.lead(Confirm{1, 3, {1, 0}});
  CHECK_FALSE(fixture.lane.has_more());
  CHECK(fixture.lane.step(lane::GoOn{}).empty());
}

TEST_CASE("factors that are known do not change") {
  Fixture fixture;
  fixture.push(0, 3, {0, 4}, 100);
  Plan other = plan(1, 0, 5);
  for (auto& factors : other.factors) {
    factors.learning_rate = 7;
  }
  fixture.lead(other);
  const auto actions = fixture.push(0, 5, {0, 4}, 40);
  REQUIRE(find<lane::Apply>(actions) != nullptr);
  CHECK(find<lane::Apply>(actions)->factors == rate(0.5F));
}

TEST_CASE("what a decision needs is reported until the step is applied, then what was decided") {
  Fixture fixture;
  fixture.begin(2, {1, 0});
  fixture.push(0, 3, {0, 4}, 100, 2);
  auto actions = fixture.push(0, 5, {0, 4}, 40, 2);
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);  // all chunks are covered: the lead can decide
  REQUIRE(report->measures.size() == 2);
  CHECK(report->measures[0] == ChunkMeasure{3, 0, {2.0}, true, 4, kNoSlot});
  CHECK(report->decided.empty());
  fixture.lead(plan(2, 0, 1));
  CHECK(fixture.lane.open_step() == 1);
  fixture.lane.step(lane::Tick{900'000});
  actions = fixture.lane.step(lane::Tick{2'000'000});
  report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  CHECK(report->measures.empty());
  REQUIRE(report->decided.size() == 1);
  CHECK(report->decided[0] == DecidedStep{0, rate(0.5F)});
}

TEST_CASE("a gradient that is not finite is never applied: it is reported with its slot, and skipped when told") {
  Fixture fixture;
  fixture.finite = false;
  fixture.fault = 2;
  fixture.push(0, 3, {2, 4}, 100);
  fixture.fault = kNoSlot;
  auto actions = fixture.push(0, 3, {0, 2}, 100);
  CHECK(find<lane::Apply>(actions) == nullptr);
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  REQUIRE(report->measures.size() == 1);
  CHECK(report->measures[0] == ChunkMeasure{3, 0, {2.0}, false, 4, 2});
  fixture.begin(2, {1, 0});
  CHECK(fixture.lane.held_payloads() == 0);
  fixture.push(0, 3, {0, 4}, 100, 2);
  auto skip = plan(2, 0, 1);
  skip.factors[0].skip = true;
  actions = fixture.lead(skip);
  REQUIRE(find<lane::Apply>(actions) != nullptr);
  CHECK(find<lane::Apply>(actions)->factors.skip);
}

TEST_CASE("a fault said of a slot outside the node is refused") {
  Fixture fixture;
  fixture.fault = 3;
  check_refused(fixture, fixture.push(0, 3, {0, 2}, 100), RefusalCode::out_of_range, "not finite");
}

TEST_CASE("a confirmation meant for another life of the shard, or repeated, confirms nothing") {
  Lane lane(config());
  const Message other = Confirm{2, 1, {0, 0}};
  lane.step(lane::Tick{1'000});
  CHECK(lane.step(lane::FromLead{&other}).empty());
  const Message own = Confirm{1, 1, {0, 0}};
  CHECK(find<lane::Begin>(lane.step(lane::FromLead{&own})) != nullptr);
  CHECK(lane.step(lane::FromLead{&own}).empty());
}

TEST_CASE("a timeline that the database knows of is not begun again") {
  auto restarted = config();
  restarted.last_timeline = 3;
  Lane lane(restarted);
  lane.step(lane::Tick{1'000});
  const Message known = Confirm{1, 3, {2, 4}};
  CHECK(lane.step(lane::FromLead{&known}).empty());
  const Message next = Confirm{1, 4, {2, 4}};
  const auto actions = lane.step(lane::FromLead{&next});
  const auto* begin = find<lane::Begin>(actions);
  REQUIRE(begin != nullptr);
  CHECK(begin->base == SnapshotId{2, 4});
  CHECK_FALSE(lane.serving());  // before it is durable here
  lane.step(lane::Begun{4});
  CHECK(lane.serving());
  CHECK(lane.open_step() == 4);
}

TEST_CASE("while a newer timeline is being put in place, nothing is served, and what was under way is given up") {
  Fixture fixture;
  fixture.push(0, 3, {0, 1}, 100);
  const auto actions = fixture.lead(Confirm{1, 2, {1, 0}});
  CHECK(find<lane::Drop>(actions) != nullptr);
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 100), RefusalCode::not_serving, "not yet");
  CHECK(fixture.lane.step(lane::Begun{1}).empty());  // a late word of the older one
  CHECK_FALSE(fixture.lane.serving());
}

TEST_CASE("weights of before the base are gone, though the lane once held their successor") {
  Fixture fixture;
  fixture.begin(2, {1, 3});
  fixture.from_worker(kWorker, Pull{2, 3, {3}});
  const auto actions = fixture.from_worker(kWorker, Pull{2, 2, {3}});
  REQUIRE(find_to_worker<Gone>(actions) != nullptr);
  CHECK(*find_to_worker<Gone>(actions) == Gone{2, 3, 2, 3});
}

// ---- snapshots

TEST_CASE("a snapshot takes each chunk at its version, is sealed when all were taken, and leaves the statistics out") {
  Fixture fixture;
  CHECK(find<lane::TakeSnapshot>(fixture.lead(plan(1, 0, 5, {1}))) == nullptr);
  auto actions = fixture.push(0, 3, {0, 4}, 100);
  REQUIRE(find<lane::TakeSnapshot>(actions) != nullptr);
  CHECK(find<lane::TakeSnapshot>(actions)->id == SnapshotId{1, 1});
  CHECK(find<lane::TakeSnapshot>(actions)->chunk == 3);
  CHECK(find<lane::SealSnapshot>(actions) == nullptr);
  actions = fixture.push(0, 5, {0, 4}, 40);
  CHECK(find<lane::TakeSnapshot>(actions) == nullptr);
  REQUIRE(find<lane::SealSnapshot>(actions) != nullptr);
  actions = fixture.lane.step(lane::SnapshotDurable{{1, 1}});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->held == std::vector<SnapshotId>{{1, 1}});
  CHECK(fixture.lead(plan(1, 1, 1, {1})).empty());  // the order said again
}

TEST_CASE("a snapshot of the newest version is taken before a plan's factors update it") {
  Fixture fixture;
  fixture.begin(2, {1, 0});
  fixture.push(0, 3, {0, 4}, 100, 2);
  const auto actions = fixture.lead(plan(2, 0, 1, {0}));
  std::size_t take = actions.size();
  std::size_t apply = actions.size();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    take = std::holds_alternative<lane::TakeSnapshot>(actions[i]) ? i : take;
    apply = std::holds_alternative<lane::Apply>(actions[i]) ? i : apply;
  }
  CHECK(take < apply);
  CHECK(apply < actions.size());
}

TEST_CASE("a version that some chunk has left is not taken") {
  Fixture fixture;
  fixture.push(0, 3, {0, 4}, 100);
  CHECK(find<lane::TakeSnapshot>(fixture.lead(plan(1, 0, 5, {0}))) == nullptr);
}

TEST_CASE("a snapshot that fails is told with its reason, and late words of an older timeline are not taken") {
  Fixture fixture;
  fixture.lead(plan(1, 0, 5, {0}));
  auto actions = fixture.lane.step(lane::SnapshotFailed{{1, 0}, "disk full"});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->failed == std::vector<SnapshotId>{{1, 0}});
  CHECK(find_to_lead<LaneReport>(actions)->trouble == "disk full");
  fixture.lead(plan(1, 0, 5, {1}));
  fixture.push(0, 3, {0, 4}, 100);
  fixture.push(0, 5, {0, 4}, 40);
  fixture.begin(2, {0, 0});
  CHECK(fixture.lane.step(lane::SnapshotDurable{{1, 1}}).empty());
}

TEST_CASE("an order for a later version takes no chunk into the snapshot of an earlier one again") {
  Fixture fixture;
  fixture.lead(plan(1, 0, 5, {1}));
  fixture.push(0, 5, {0, 4}, 40);  // the statistics chunk stands at version 1, the other one does not
  CHECK(find<lane::SealSnapshot>(fixture.lead(plan(1, 0, 5, {1, 3}))) == nullptr);
  const auto actions = fixture.push(0, 3, {0, 4}, 100);
  CHECK(find<lane::TakeSnapshot>(actions) != nullptr);
  CHECK(find<lane::SealSnapshot>(actions) != nullptr);
}

TEST_CASE("a late plan, which knows of fewer complete snapshots, has none taken again") {
  Fixture fixture;
  const auto old = plan(1, 0, 5, {0}, {{0, 0}});
  fixture.lead(old);
  fixture.lane.step(lane::SnapshotDurable{{1, 0}});
  fixture.lead(plan(1, 0, 5, {}, {{0, 0}, {1, 0}}));
  CHECK(fixture.lead(old).empty());
}

TEST_CASE("what may be deleted is said only when the list of what is kept changes") {
  Fixture fixture;
  CHECK(find<lane::Retain>(fixture.lead(plan(1, 0, 5, {}, {{0, 0}}))) != nullptr);
  CHECK(find<lane::Retain>(fixture.lead(plan(1, 0, 5, {}, {{0, 0}}))) == nullptr);
  CHECK(find<lane::Retain>(fixture.lead(plan(1, 0, 5, {}, {{0, 0}, {1, 2}}))) != nullptr);
}

// ---- the end

TEST_CASE("what is to be copied is asked for once, and late plans do not take it back") {
  auto lanes = config();
  Fixture at(lanes);
  const auto ordered = [&at](const CopyState& copies) {
    auto order = plan(1, 0, 5);
    order.copies = copies;
    std::vector<CopyState> asked;
    for (const auto& action : at.lead(order)) {
      if (const auto* copy = std::get_if<lane::Copy>(&action)) {
        asked.push_back(copy->copies);
      }
    }
    return asked;
  };
  const CopyState first{7, {1, 10}, {}};
  const CopyState second{7, {1, 30}, {1, 10}};
  const CopyState given_up{7, {1, 40}, {1, 10}};
  const CopyState last{7, {}, {1, 40}};
  CHECK(ordered({7, {}, {}}).empty());
  CHECK(ordered(first) == std::vector{first});
  CHECK(ordered(first).empty());
  CHECK(ordered(second) == std::vector{second});
  CHECK(ordered(first).empty());
  CHECK(ordered(given_up) == std::vector{given_up});
  CHECK(ordered(second).empty());
  CHECK(ordered(last) == std::vector{last});
  CHECK(ordered(given_up).empty());

  lanes.id = {1, 1};
  at.lane.step(lane::Copying{{{1, 40}, 100, 0, true}});
  Fixture other(lanes);  // one lane speaks for the shard
  auto order = plan(1, 0, 5);
  order.copies = first;
  for (const auto& action : other.lead(order)) {
    CHECK_FALSE(std::holds_alternative<lane::Copy>(action));
  }
}

TEST_CASE("a copy that is done is reported at once, in whatever timeline") {
  Fixture at;
  const CopyProgress done{{1, 40}, 100, 0, true};
  const auto report = [](const lane::Actions& actions) -> const LaneReport* {
    for (const auto& action : actions) {
      if (const auto* send = std::get_if<lane::SendToLead>(&action)) {
        return std::get_if<LaneReport>(&send->message);
      }
    }
    return nullptr;
  };
  CHECK(report(at.lane.step(lane::Copying{{{1, 40}, 50, 0, false}})) == nullptr);
  const auto actions = at.lane.step(lane::Copying{done});
  REQUIRE(report(actions) != nullptr);
  CHECK(report(actions)->copy == done);
  const auto begun = at.begin(2, {0, 0});
  REQUIRE(report(begun) != nullptr);
  CHECK(report(begun)->copy == done);
}

TEST_CASE("a lane leaves after `finished` is durable with it, and not before") {
  Fixture fixture;
  auto actions = fixture.lead(Finish{1, 5, Ending::finished, {}});
  REQUIRE(find<lane::RecordFinish>(actions) != nullptr);
  CHECK(find<lane::RecordFinish>(actions)->end == SnapshotId{1, 5});
  CHECK(find<lane::Stop>(actions) == nullptr);
  CHECK(fixture.lead(Finish{1, 5, Ending::finished, {}}).empty());
  actions = fixture.lane.step(lane::FinishRecorded{});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->leaving);
  REQUIRE(find<lane::Stop>(actions) != nullptr);
  CHECK(find<lane::Stop>(actions)->failure.empty());
}

TEST_CASE("a lane whose end waits to be durable is not ended by a lead that has left") {
  Fixture fixture;
  fixture.lead(Finish{1, 5, Ending::finished, {}});
  for (Micros now = 1'000; now < 3 * config().lead_silence; now += 1'000'000) {
    REQUIRE(find<lane::Stop>(fixture.lane.step(lane::Tick{now})) == nullptr);
  }
  const auto actions = fixture.lane.step(lane::FinishRecorded{});
  REQUIRE(find<lane::Stop>(actions) != nullptr);
  CHECK(find<lane::Stop>(actions)->failure.empty());
}

TEST_CASE("a job that is stopped or has failed is left at once, with the reason") {
  for (const auto ending : {Ending::stopped, Ending::failed}) {
    Fixture fixture;
    const auto actions = fixture.lead(Finish{1, 5, ending, "why"});
    CHECK(find<lane::RecordFinish>(actions) == nullptr);
    REQUIRE(find<lane::Stop>(actions) != nullptr);
    CHECK(find<lane::Stop>(actions)->failure == "why");
  }
}

TEST_CASE("a shard whose storage has failed says so") {
  Fixture fixture;
  const auto actions = fixture.lane.step(lane::StorageFailed{"read-only"});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->failure == "read-only");
}

TEST_CASE("a report never names more sessions than may be told of, however many have come and gone") {
  auto long_lived = config();
  long_lived.steps = kMaxSessions + 10;
  Fixture fixture(long_lived);
  fixture.lead(plan(1, 0, kMaxSessions + 10));
  Micros now = 1'000;
  std::size_t named = 0;
  for (Step step = 0; step < kMaxSessions + 5; ++step) {
    fixture.lane.step(lane::Tick{now += 60'000'001});
    fixture.lead(plan(1, step, 0));  // a sign of life
    const SessionId session = 100 + step;
    fixture.from_worker(session, LaneHello{"worker", "spec", "layout"});
    fixture.push(step, 3, {0, 4}, 100, 1, false, session);
    fixture.push(step, 5, {0, 4}, 40, 1, false, session);
    const auto actions = fixture.lane.step(lane::Tick{now += 1'000'000});
    const auto* report = find_to_lead<LaneReport>(actions);
    REQUIRE(report != nullptr);
    REQUIRE(report->open_step == step + 1);
    named = report->slots_by_session.size();
  }
  CHECK(named == kMaxSessions);
}

TEST_CASE("a lead that waits for other shards is heard, and asked again") {
  Fixture fixture;
  Micros now = 1'000;
  for (int i = 0; i < 1'000; ++i) {  // longer than a silent lead is waited for
    REQUIRE(find<lane::Stop>(fixture.lane.step(lane::Tick{now += 1'000'000})) == nullptr);
    REQUIRE(find<lane::Stop>(fixture.lead(Refused{RefusalCode::not_serving, "the lead waits"})) == nullptr);
  }
}

TEST_CASE(
    "a lead that is away is told hello only, for what it is sent waits in memory, and all of it once it is back") {
  Fixture fixture;
  Micros now = 1'000;
  std::size_t reports = 0;
  for (int i = 0; i < 600; ++i) {
    const auto actions = fixture.lane.step(lane::Tick{now += 50'000});
    reports += find_to_lead<LaneReport>(actions) != nullptr ? 1 : 0;
    if (i > 100 && i % 10 == 0) {
      fixture.push(0, 3, {static_cast<Slot>(i % 4), static_cast<Slot>(i % 4 + 1)}, 100);
    }
  }
  CHECK(reports > 0);
  CHECK(reports < 20);  // those of the first seconds
  fixture.lead(Confirm{1, 1, {0, 0}});
  const auto actions = fixture.lane.step(lane::Tick{now += 200'000});
  REQUIRE(find_to_lead<LaneReport>(actions) != nullptr);
  CHECK(find_to_lead<LaneReport>(actions)->serving);
}
