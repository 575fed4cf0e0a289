#include "protocol/lead/lead.h"
#include "tests/unit/protocol/states.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ballast;

namespace {

constexpr Micros kMillisecond = 1'000;

LeadConfig round_config(Step steps) {
  LeadConfig config;
  config.shards = 1;
  config.lanes = 1;
  config.slots = 4;
  config.steps = steps;
  config.steps_per_epoch = steps;
  config.start_workers = 2;
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.factors = [](Step step, std::uint64_t) {
    StepFactors factors;
    factors.learning_rate = static_cast<float>(step);
    return factors;
  };
  config.parameter_name = [](std::uint32_t) { return std::string("weight"); };
  config.patience = 10'000 * kMillisecond;
  config.shares.late = 1'000 * kMillisecond;
  config.linger = 100 * kMillisecond;
  return config;
}

// A lead with one lane and two workers, sessions 1 and 2, all of whose messages the test writes itself.
class RoundLeadFixture {
 public:
  explicit RoundLeadFixture(LeadConfig lead_config) : lead(std::move(lead_config)) { tick(0); }

  lead::Actions tick(Micros later) {
    now += later;
    return keep(lead.step(lead::Tick{now}));
  }
  lead::Actions lane(const Message& message, Incarnation incarnation = 1) {
    return keep(lead.step(lead::FromLane{{0, 0}, incarnation, &message}));
  }
  lead::Actions worker(SessionId session, const Message& message) {
    return keep(lead.step(lead::FromWorker{session, &message}));
  }
  lead::Actions report(Step open, std::uint64_t missing, Step planned = 1'000) {
    LaneReport report;
    report.incarnation = 1;
    report.sequence = ++sequence;
    report.timeline = 1;
    report.serving = true;
    report.open_step = open;
    report.rounds.missing = {missing};
    report.planned = planned;
    report.slots_by_session = brought;
    return lane(report);
  }
  lead::Actions written() { return keep(lead.step(lead::LedgerWritten{})); }
  lead::Actions beat(SessionId session) {
    Heartbeat beat;
    beat.ready = true;
    beat.fingerprint = "arithmetic";
    beat.data_digest = "data";
    return worker(session, beat);
  }

  void train() {
    lane(ShardHello{{0, 0}, 1, 1, 1, {7, 1}, "spec", "layout", "", "here", 0, 0, {{}}});
    lead.step(lead::LedgerWritten{});
    report(0, 15);
    for (const SessionId session : {1U, 2U}) {
      worker(session, WorkerHello{"worker"});
      beat(session);
      written();  // whose data and arithmetic the job's are
    }
  }

  Lead lead;
  Micros now = 5'000'000;
  std::uint64_t sequence = 0;
  std::map<SessionId, Assign> orders;  // the newest
  std::vector<SessionSlots> brought;   // by the lane's reports

 private:
  lead::Actions keep(lead::Actions actions) {
    for (const auto& action : actions) {
      if (const auto* send = std::get_if<lead::SendToWorker>(&action)) {
        if (const auto* assign = std::get_if<Assign>(&send->message)) {
          orders[send->session] = *assign;
        }
      }
    }
    return actions;
  }
};

template <typename Action>
const Action* found(const lead::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* found = std::get_if<Action>(&action)) {
      return found;
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("training begins when the timeline is durable, the lanes serve and enough workers are ready") {
  RoundLeadFixture fixture(round_config(4));
  auto actions = fixture.lane(ShardHello{{0, 0}, 1, 1, 1, {7, 1}, "spec", "layout", "", "here", 0, 0, {{}}});
  const auto* write = found<lead::WriteLedger>(actions);
  REQUIRE(write != nullptr);
  CHECK(write->change.ledger.timeline == 1);
  CHECK(write->change.ledger.incarnations == std::vector<Incarnation>{1});
  CHECK(write->change.ledger.complete == std::vector<SnapshotId>{{0, 0}});
  CHECK(found<lead::SendToLane>(actions) == nullptr);  // not before it is durable
  actions = fixture.lead.step(lead::LedgerWritten{});
  const auto* confirm = found<lead::SendToLane>(actions);
  REQUIRE(confirm != nullptr);
  CHECK(std::get<Confirm>(confirm->message) == Confirm{1, 1, {0, 0}});
  fixture.report(0, 15);
  fixture.worker(1, WorkerHello{"one"});
  fixture.beat(1);
  fixture.written();
  CHECK(fixture.lead.phase() == Lead::Phase::waiting);
  CHECK(fixture.orders[1].rounds.standing.slots.empty());
  fixture.worker(2, WorkerHello{"two"});
  fixture.beat(2);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.orders[1].rounds.standing == Standing{0, 4, {0, 2}});
  CHECK(fixture.orders[2].rounds.standing == Standing{0, 4, {2, 4}});
}

TEST_CASE("a shard of another job is refused with the reason") {
  RoundLeadFixture fixture(round_config(4));
  for (const auto& hello : {ShardHello{{0, 0}, 1, 1, 1, {7, 1}, "other", "layout", "", "here"},
                            ShardHello{{0, 0}, 1, 1, 1, {7, 1}, "spec", "other", "", "here"},
                            ShardHello{{0, 0}, 2, 1, 1, {7, 1}, "spec", "layout", "", "here"},
                            ShardHello{{1, 0}, 1, 1, 1, {7, 1}, "spec", "layout", "", "here"}}) {
    const auto actions = fixture.lane(hello);
    const auto* answer = found<lead::SendToLane>(actions);
    REQUIRE(answer != nullptr);
    CHECK(std::holds_alternative<Refused>(answer->message));
    CHECK(fixture.lead.phase() == Lead::Phase::assembling);
  }
}

TEST_CASE("a hello from another connection than it names is refused, while assembling and while training") {
  for (const bool trains : {false, true}) {
    RoundLeadFixture fixture(round_config(4));
    if (trains) {
      fixture.train();
    }
    const auto phase = fixture.lead.phase();
    const Message hello = ShardHello{{0, 0}, 1, 1, 777, {7, 1}, "spec", "layout", "", "there"};
    for (const auto& [lane, incarnation] :
         {std::pair{LaneId{999, 7}, Incarnation{777}}, std::pair{LaneId{0, 0}, Incarnation{778}}}) {
      const auto actions = fixture.lead.step(lead::FromLane{lane, incarnation, &hello});
      REQUIRE(found<lead::SendToLane>(actions) != nullptr);
      CHECK(std::holds_alternative<Refused>(found<lead::SendToLane>(actions)->message));
      CHECK(found<lead::WriteLedger>(actions) == nullptr);
      CHECK(fixture.lead.phase() == phase);
    }
  }
}

TEST_CASE("a report from another connection than it names changes nothing") {
  RoundLeadFixture fixture(round_config(8));
  fixture.train();
  fixture.report(2, 15);
  LaneReport report;
  report.incarnation = 1;
  report.sequence = fixture.sequence + 1;
  report.timeline = 1;
  report.serving = true;
  report.open_step = 4;
  report.rounds.missing = {15};
  report.rounds.reached = 4;
  report.planned = 1'000;
  auto failed = report;
  failed.sequence = report.sequence + 1;
  failed.failure = "the disk is broken";
  for (const auto& [lane, incarnation] :
       {std::pair{LaneId{0, 1}, Incarnation{1}}, std::pair{LaneId{1, 0}, Incarnation{1}},
        std::pair{LaneId{0, 0}, Incarnation{2}}}) {
    for (auto anothers : {report, failed}) {
      anothers.lane = lane;
      anothers.incarnation = incarnation;
      fixture.lane(anothers);
      fixture.tick(kMillisecond);
      CHECK(fixture.lead.status().step == 2);
      CHECK(fixture.lead.phase() == Lead::Phase::training);
    }
  }
  fixture.lane(report);  // its own
  fixture.tick(kMillisecond);
  CHECK(fixture.lead.status().step == 4);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  fixture.lane(failed);
  fixture.tick(kMillisecond);
  CHECK(fixture.lead.phase() != Lead::Phase::training);
}

TEST_CASE("workers may come and go without end: the longest dead make room") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  for (SessionId session = 10; session < 10 + kMaxSessions + 5; ++session) {
    const auto actions = fixture.worker(session, WorkerHello{"passing"});
    REQUIRE(found<lead::SendToWorker>(actions) != nullptr);
    CHECK(std::holds_alternative<WorkerWelcome>(found<lead::SendToWorker>(actions)->message));
    fixture.worker(session, Goodbye{"leaving"});
  }
  CHECK(fixture.lead.status().sessions.size() <= kMaxSessions);
}

TEST_CASE("no more live workers than it may take, and no more remembered") {
  auto small = round_config(4);
  small.max_sessions = 3;
  RoundLeadFixture fixture(small);
  fixture.train();
  fixture.worker(3, WorkerHello{"third"});
  fixture.worker(3, Heartbeat{});
  const auto actions = fixture.worker(4, WorkerHello{"fourth"});
  const auto& refused = std::get<Refused>(found<lead::SendToWorker>(actions)->message);
  CHECK(refused.code == RefusalCode::too_many);
  CHECK(refused.text == "the job has 3 live sessions");
  fixture.worker(3, Goodbye{"leaving"});
  CHECK(std::holds_alternative<WorkerWelcome>(
      found<lead::SendToWorker>(fixture.worker(4, WorkerHello{"fourth"}))->message));
  CHECK(fixture.lead.status().sessions.size() == 3);
}

TEST_CASE(
    "workers that a lane lets wait are trouble while others work, and what the job waits for where there are none") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  Heartbeat beat;
  beat.timeline = 1;
  beat.ready = true;
  beat.waits_for = "lane 0 of shard 1 at tcp://b:2, which does not answer";
  fixture.worker(1, beat);
  CHECK(fixture.lead.status().trouble ==
        "worker worker waits for lane 0 of shard 1 at tcp://b:2, which does not answer");
  CHECK(fixture.lead.status().waits_for.empty());
  fixture.worker(2, beat);
  CHECK(fixture.lead.status().waits_for ==
        "worker worker (like 1 more), which waits for lane 0 of shard 1 at tcp://b:2, which does not answer");
  CHECK(fixture.lead.status().trouble.empty());
  fixture.worker(1, Goodbye{"leaving"});
  beat.waits_for.clear();
  fixture.worker(2, beat);
  CHECK(fixture.lead.status().waits_for.empty());
  CHECK(fixture.lead.status().trouble.empty());
}

TEST_CASE("an older report changes nothing") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  fixture.report(2, 15);
  fixture.sequence -= 2;
  fixture.report(1, 15);
  CHECK(fixture.lead.status().step == 2);
}

TEST_CASE("a lead that is copied while it trains goes on without the original, and the original without it") {
  std::optional<RoundLeadFixture> original(round_config(4));
  original->train();
  original->report(1, 15);
  RoundLeadFixture copy = *original;
  const auto before = original->lead;
  CHECK(differences(before, copy.lead) == Differences{});
  const auto lose_a_worker = [](RoundLeadFixture& fixture) {
    fixture.worker(1, Goodbye{"leaving"});
    fixture.report(2, 15);
    fixture.tick(20 * kMillisecond);
  };

  lose_a_worker(copy);
  CHECK(copy.lead.status().step == 2);
  CHECK(copy.orders[2].rounds.standing.slots == SlotRange{0, 4});
  CHECK(differences(before, original->lead) == Differences{});
  CHECK(differences(before, copy.lead) != Differences{});
  CHECK(original->orders[2].rounds.standing.slots == SlotRange{2, 4});

  lose_a_worker(*original);
  CHECK(differences(original->lead, copy.lead) == Differences{});
  CHECK(original->orders == copy.orders);

  original->lead.step(lead::LedgerFailed{"disk full"});
  CHECK(original->lead.phase() == Lead::Phase::failed);
  original.reset();
  copy.report(3, 15);
  CHECK(copy.lead.phase() == Lead::Phase::training);
  CHECK(copy.lead.status().step == 3);
}

TEST_CASE("a session that the lead does not know is told to say hello") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  const auto actions = fixture.beat(77);
  const auto* answer = found<lead::SendToWorker>(actions);
  REQUIRE(answer != nullptr);
  CHECK(std::get<Refused>(answer->message).code == RefusalCode::unknown_session);
}

TEST_CASE("the time that the lead itself slept is nobody's silence") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  fixture.tick(60'000 * kMillisecond);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(fixture.lead.status().lost_workers == 0);
  for (int i = 0; i < 1'000; ++i) {
    fixture.tick(20 * kMillisecond);
  }
  CHECK(fixture.lead.phase() == Lead::Phase::failed);
  CHECK(fixture.lead.status().lost_workers == 2);
}

// The tick, in milliseconds from its start, at which a lead whose job is over leaves.
int leaves_after(LeadConfig config) {
  RoundLeadFixture fixture(std::move(config));
  int passed = 0;
  while (passed < 10'000 && found<lead::Stop>(fixture.tick(10 * kMillisecond)) == nullptr) {
    passed += 10;
  }
  return passed;
}

LeadConfig finished_config(Micros stay) {
  auto config = round_config(4);
  config.memory.ledger.timeline = 1;
  config.memory.ledger.base = {1, 4};
  config.memory.ledger.complete = {{1, 4}};
  config.memory.ledger.finished = SnapshotId{1, 4};
  config.stay = stay;
  return config;
}

TEST_CASE("a lead that is to stay after the end leaves then, and not when its linger is over") {
  CHECK(leaves_after(finished_config(0)) <= 120);
  const auto stayed = leaves_after(finished_config(700 * kMillisecond));
  CHECK(stayed >= 680);
  CHECK(stayed <= 720);
}

TEST_CASE("a lead that is to stay after the end stays for its linger alone once its process is told to end") {
  RoundLeadFixture fixture(finished_config(5'000 * kMillisecond));
  fixture.tick(10 * kMillisecond);
  fixture.lead.step(lead::StayNoLonger{});
  CHECK(found<lead::Stop>(fixture.tick(80 * kMillisecond)) == nullptr);  // others may not have heard of the end
  CHECK(found<lead::Stop>(fixture.tick(20 * kMillisecond)) != nullptr);
}

TEST_CASE("a lead that stays after the end tells it to a worker that starts late") {
  RoundLeadFixture fixture(finished_config(700 * kMillisecond));
  for (int i = 0; i < 50; ++i) {
    REQUIRE(found<lead::Stop>(fixture.tick(10 * kMillisecond)) == nullptr);
  }
  const auto actions = fixture.worker(7, WorkerHello{"late"});
  const auto* answer = found<lead::SendToWorker>(actions);
  REQUIRE(answer != nullptr);
  const auto* finish = std::get_if<Finish>(&answer->message);
  REQUIRE(finish != nullptr);
  CHECK(finish->ending == Ending::finished);
}

TEST_CASE("a lead that slept after the end still answers who missed it") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  fixture.lead.step(lead::LedgerFailed{"disk full"});
  REQUIRE(fixture.lead.phase() == Lead::Phase::failed);
  CHECK(fixture.lead.status().failure.find("disk full") != std::string::npos);
  CHECK(found<lead::Stop>(fixture.tick(60'000 * kMillisecond)) == nullptr);
  const auto actions = fixture.beat(1);
  const auto* answer = found<lead::SendToWorker>(actions);
  REQUIRE(answer != nullptr);
  CHECK(std::holds_alternative<Finish>(answer->message));
  bool stopped = false;
  for (int i = 0; i < 20 && !stopped; ++i) {
    stopped = found<lead::Stop>(fixture.tick(10 * kMillisecond)) != nullptr;
  }
  CHECK(stopped);
}

namespace {

// Of a session that has computed these slots of the step, 10 ms each, and computes another one since `in_hand_for`.
Heartbeat at_work(Step step, std::vector<SlotRange> computed, Slot in_hand = kNoSlot, Micros in_hand_for = 0) {
  Heartbeat beat;
  beat.timeline = 1;
  beat.ready = true;
  beat.fingerprint = "arithmetic";
  beat.data_digest = "data";
  beat.progress.step = step;
  beat.progress.slot_time = computed.empty() ? 0 : 10 * kMillisecond;
  beat.progress.computed = std::move(computed);
  beat.progress.in_hand = in_hand;
  beat.progress.in_hand_for = in_hand_for;
  beat.progress.begun = in_hand_for + 1;
  return beat;
}

}  // namespace

TEST_CASE("a straggler that brings nothing any more costs three steps their time at most, and the others none") {
  constexpr Step kSteps = 60;
  RoundLeadFixture fixture(round_config(kSteps));
  fixture.train();
  for (std::uint64_t slots = 1; slots <= 3; ++slots) {
    fixture.brought = {{1, slots}, {2, slots}};  // it did once
    fixture.report(0, 15);
  }
  const auto has = [&](Step step, SlotRange slots) {
    const auto& order = fixture.orders[1].rounds;
    if (order.now && order.now->step == step) {
      return std::ranges::any_of(order.now->ranges, [&](SlotRange range) { return range.end == slots.end; });
    }
    return order.standing.from <= step && order.standing.slots.end == slots.end;
  };
  const auto begun = fixture.now;
  std::vector<Step> waited;
  for (Step step = 0; step < kSteps; ++step) {
    fixture.brought.front().slots += 4;
    fixture.report(step, 15);
    const auto opened = fixture.now;
    fixture.tick(20 * kMillisecond);
    fixture.report(step, 12);  // session 1 has delivered its half; session 2 is never done
    fixture.worker(1, at_work(step, {{0, 2}}));
    while (!has(step, {2, 4})) {
      fixture.tick(10 * kMillisecond);
      fixture.worker(1, at_work(step, {{0, 2}}));
      fixture.worker(2, at_work(0, {}, 2, fixture.now - begun));
      REQUIRE(fixture.now - opened <= 1'010 * kMillisecond);
    }
    if (fixture.now - opened > 20 * kMillisecond) {
      waited.push_back(step);
    }
    fixture.tick(20 * kMillisecond);
    fixture.worker(2, at_work(0, {}, 2, fixture.now - begun));
  }
  CHECK(waited.size() <= 3);
  CHECK(waited.back() < 6);
  CHECK(fixture.lead.status().lost_workers == 0);
  CHECK(fixture.lead.phase() == Lead::Phase::training);
}

TEST_CASE("what a session that cannot be reached was to compute goes to another at once, and the session stays") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  fixture.worker(1, at_work(0, {{0, 2}}));
  fixture.orders.clear();
  const auto actions = fixture.lead.step(lead::Unreachable{2});
  const auto* sent = found<lead::SendToWorker>(actions);
  REQUIRE(sent != nullptr);
  CHECK(sent->session == 1);
  CHECK(std::get<Assign>(sent->message).rounds.now == StepWork{0, {{2, 4}}});
  CHECK(fixture.lead.status().lost_workers == 0);
}

TEST_CASE("a session that is silent is sent its order again, then suspected, and not lost for it") {
  auto config = round_config(4);
  config.worker_silence = {10'000 * kMillisecond, 10'000 * kMillisecond, 10'000 * kMillisecond};
  RoundLeadFixture fixture(config);
  fixture.train();
  fixture.worker(1, at_work(0, {{0, 2}}));
  fixture.report(0, 12);  // they have arrived
  const auto is_sent = [](const lead::Actions& actions, SessionId session) {
    return std::ranges::any_of(actions, [&](const auto& action) {
      const auto* send = std::get_if<lead::SendToWorker>(&action);
      return send != nullptr && send->session == session;
    });
  };
  for (Micros silent = 10; silent <= 250; silent += 10) {
    const auto actions = fixture.tick(10 * kMillisecond);
    CHECK(is_sent(actions, 2) == (silent > 70));
    fixture.worker(1, at_work(0, {{0, 2}}));
    CHECK_FALSE(fixture.orders[1].rounds.now.has_value());
  }
  fixture.tick(10 * kMillisecond);
  CHECK(fixture.orders[1].rounds.now == StepWork{0, {{2, 4}}});
  CHECK(fixture.lead.status().lost_workers == 0);
  fixture.worker(2, at_work(0, {{2, 4}}));
  CHECK(fixture.orders[2].rounds.now == StepWork{0, {}});
}

TEST_CASE("heartbeats are to be rarer where there are many sessions, so that all together are few enough") {
  RoundLeadFixture fixture(round_config(4));
  fixture.train();
  CHECK(fixture.orders[1].beats_apart == 0);
  for (SessionId session = 3; session <= 200; ++session) {
    fixture.worker(session, WorkerHello{"worker"});
    fixture.beat(session);
  }
  CHECK(fixture.orders[200].beats_apart == 25'600);
}

TEST_CASE("in item mode a step to be kept is waited at, and only evaluated if it is due") {
  auto with_cuts = round_config(4);
  with_cuts.items = ItemMode{};
  with_cuts.snapshot_every = 2;
  with_cuts.evaluate_every = 4;
  with_cuts.test_examples = 10;
  RoundLeadFixture fixture(with_cuts);
  fixture.train();
  Plan newest;
  const auto report_items = [&](ItemId covered, Version planned) {
    LaneReport report;
    report.incarnation = 1;
    report.sequence = ++fixture.sequence;
    report.timeline = 1;
    report.serving = true;
    report.open_step = covered / 4;
    report.planned = planned;
    report.items.covered = {{0, covered}};
    for (Step step = 0; step < covered / 4; ++step) {
      report.statistics.push_back({step, 1, 2, 3});
    }
    report.plan = newest.number;
    for (const auto& action : fixture.lane(report)) {
      const auto* send = std::get_if<lead::SendToLane>(&action);
      if (const auto* plan = send == nullptr ? nullptr : std::get_if<Plan>(&send->message)) {
        newest = *plan;
      }
    }
  };
  report_items(0, 8);
  const auto grants = fixture.orders[1].items.grants.size() + fixture.orders[2].items.grants.size();
  CHECK(grants == 8);  // the items of steps 0 and 1, and none beyond
  report_items(8, 8);
  fixture.lead.step(lead::LedgerWritten{});
  CHECK(fixture.lead.phase() == Lead::Phase::training);
  CHECK(newest.snapshots == std::vector<Step>{2});
  CHECK(newest.until == 16);
  report_items(16, 16);
  fixture.lead.step(lead::LedgerWritten{});
  CHECK(fixture.lead.phase() == Lead::Phase::evaluating);
}
