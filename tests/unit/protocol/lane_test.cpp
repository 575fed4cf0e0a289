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

// A lane that serves timeline 1 and knows factors for all its steps, and a session that has said hello.
class Fixture {
 public:
  explicit Fixture(LaneConfig lane_config = config()) : lane(std::move(lane_config)) {
    lane.step(lane::Tick{1'000});
    lead(Confirm{1, 1, 0});
    lane.step(lane::Begun{1});
    lead(Plan{1, 0, std::vector<StepFactors>(5, StepFactors{0.5F}), 0});
    from_worker(kWorker, LaneHello{"worker", "spec", "layout"});
  }

  lane::Actions lead(const Message& message) { return lane.step(lane::FromLead{&message}); }
  lane::Actions from_worker(SessionId session, const Message& message) {
    return lane.step(lane::FromWorker{session, &message, kNoPayload, 0});
  }
  lane::Actions push(Step step, ChunkId chunk, Node node, std::uint64_t bytes, Timeline timeline = 1,
                     bool want_next = false, SessionId session = kWorker) {
    const Message message = Push{timeline, step, chunk, node, want_next, {}};
    return lane.step(lane::FromWorker{session, &message, ++last_payload, bytes});
  }

  Lane lane;
  PayloadId last_payload = 0;
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
  CHECK(apply->factors == StepFactors{0.5F});
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
  auto few = config();
  Lane lane(few);
  const Message confirm = Confirm{1, 1, 0};
  const Message hello = LaneHello{"worker", "spec", "layout"};
  const Message push = Push{1, 0, 3, {0, 4}, false, {}};
  const Message again = Push{1, 0, 3, {0, 1}, false, {}};
  lane.step(lane::Tick{1'000});
  lane.step(lane::FromLead{&confirm});
  lane.step(lane::Begun{1});
  lane.step(lane::FromWorker{kWorker, &hello, kNoPayload, 0});
  auto actions = lane.step(lane::FromWorker{kWorker, &push, 1, 100});
  CHECK(find<lane::Apply>(actions) == nullptr);
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  CHECK(report->planned == 0);
  actions = lane.step(lane::FromWorker{kWorker, &again, 2, 100});
  CHECK(find_to_lead<LaneReport>(actions) == nullptr);
  CHECK(lane.counters().waited_for_factors == 1);
  const Message plan = Plan{1, 0, {StepFactors{1.0F}}, 0};
  actions = lane.step(lane::FromLead{&plan});
  CHECK(find<lane::Apply>(actions) != nullptr);
}

TEST_CASE("a confirmation meant for another life of the shard confirms nothing") {
  Lane lane(config());
  const Message other = Confirm{2, 1, 0};
  lane.step(lane::Tick{1'000});
  CHECK(lane.step(lane::FromLead{&other}).empty());
  const Message own = Confirm{1, 1, 0};
  CHECK(find<lane::Begin>(lane.step(lane::FromLead{&own})) != nullptr);
  CHECK(lane.step(lane::FromLead{&own}).empty());
}

TEST_CASE("the final weights are made durable only at the job's last step") {
  auto one = config();
  one.steps = 1;
  Fixture fixture(one);
  CHECK(fixture.lead(Persist{1, 1}).empty());
  fixture.push(0, 3, {0, 4}, 100);
  fixture.push(0, 5, {0, 4}, 40);
  CHECK(find<lane::PersistFinal>(fixture.lead(Persist{1, 1})) != nullptr);
  CHECK(find<lane::PersistFinal>(fixture.lead(Persist{1, 1})) == nullptr);
  const auto actions = fixture.lane.step(lane::Persisted{1, 1});
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  CHECK(report->persisted);
}
