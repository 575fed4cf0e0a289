// Numbers that cannot be.
#include <limits>

#include "tests/unit/common/wire/refusal.h"

namespace ballast {
namespace {

StepFactors factors_of(float learning_rate) {
  StepFactors factors;
  factors.learning_rate = learning_rate;
  return factors;
}

TEST_CASE("the slots of work are a range below the limit") {
  for (const SlotRange range : {SlotRange{0, 0}, SlotRange{5, 5}, SlotRange{6, 5}, SlotRange{0, kMaxSlots + 1}}) {
    const auto shown = std::string("[") + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
    const auto* value = shown.c_str();
    check_out_of_range(changed<Push>([&](auto& push) { push.node = range; }), {"Push.node", value, "4096"});
    check_out_of_range(changed<Receipt>([&](auto& receipt) { receipt.node = range; }), {"Receipt.node", value, "4096"});
    check_out_of_range(changed<Call>([&](auto& call) { call.work.node = range; }), {"Call.work.node", value, "4096"});
    check_out_of_range(changed<Offers>([&](auto& offers) {
                         offers.works = {{1, 2, range}};
                       }),
                       {"Offers.works[0].node", value, "4096"});
    check_out_of_range(changed<Assign>([&](auto& assign) {
                         assign.rounds.now = StepWork{1, {range}};
                       }),
                       {"Assign.rounds.now.ranges[0]", value, "4096"});
    if (range.begin != range.end) {
      check_out_of_range(changed<Assign>([&](auto& assign) { assign.rounds.standing.slots = range; }),
                         {"Assign.rounds.standing.slots", value, "4096"});
    }
  }
}

TEST_CASE("each range of a list of slots is held to the limit, and named by its place") {
  for (const SlotRange range : {SlotRange{0, 0}, SlotRange{5, 5}, SlotRange{6, 5}, SlotRange{4000, kMaxSlots + 1}}) {
    const auto shown = std::string("[") + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
    const auto* value = shown.c_str();
    for (const std::size_t place : {0U, 1U, 2U}) {
      std::vector<SlotRange> ranges = {{7, 9}, {0, 3}, {kMaxSlots - 1, kMaxSlots}};
      ranges[place] = range;
      const auto at = "[" + std::to_string(place) + "]";
      const auto now = "Assign.rounds.now.ranges" + at + " is ";
      const auto computed = "Heartbeat.progress.computed" + at + " is ";
      check_out_of_range(changed<Assign>([&](auto& assign) {
                           assign.rounds.now = StepWork{1, ranges};
                         }),
                         {now.c_str(), value, "begin < end <= 4096"});
      check_out_of_range(changed<Heartbeat>([&](auto& beat) { beat.progress.computed = ranges; }),
                         {computed.c_str(), value, "begin < end <= 4096"});
    }
  }
}

TEST_CASE("a slot in hand is one below the limit, or none") {
  for (const Slot slot : {kMaxSlots, kNoSlot - 1}) {
    check_out_of_range(changed<Heartbeat>([&](auto& beat) { beat.progress.in_hand = slot; }),
                       {"Heartbeat.progress.in_hand", std::to_string(slot).c_str(), "at most 4095"});
  }
  check_out_of_range(changed<Status>([](auto& status) { status.sessions[0].share = kMaxSlots + 1; }),
                     {"Status.sessions[0].share", "4097", "at most 4096"});
}

TEST_CASE("the entries of a list without a rule for each may be anything") {
  const auto passes = [](const Message& message) {
    return std::holds_alternative<Message>(decode(encoded(message), 0, false));
  };
  CHECK(passes(changed<Heartbeat>([](auto& beat) {
    beat.delivered = {{0, 0}};
    beat.dropped = {{1, 2}};
  })));
  CHECK(passes(changed<Heartbeat>([](auto& beat) { beat.progress = {}; })));
  CHECK(passes(changed<Assign>([](auto& assign) { assign.rounds.now = StepWork{3, {}}; })));
}

TEST_CASE("an absent node is refused") {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = schema::CreatePush(builder, 1, 2, 3);
  schema::FinishEnvelopeBuffer(builder,
                               schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::Push, body.Union()));
  check_refused(decode(bytes_of(builder), 64, true), RefusalCode::out_of_range, {"Push.node", "[0, 0)"});
}

TEST_CASE("an assignment's ranges do not run backwards") {
  check_out_of_range(changed<Assign>([](auto& assign) {
                       assign.rounds.standing.from = 9;
                       assign.rounds.standing.until = 8;
                     }),
                     {"Assign.rounds.standing.from", "9", "8"});
  for (const std::uint32_t end : {3U, 4U}) {
    check_out_of_range(changed<Assign>([&](auto& assign) {
                         assign.evaluation = Evaluation{Split::test, 1, 2, 4, end};
                       }),
                       {"Assign.evaluation", "[4, "});
  }
}

TEST_CASE("an unknown enumerator is refused") {
  check_out_of_range(changed<Receipt>([](auto& receipt) { receipt.outcome = static_cast<ReceiptOutcome>(4); }),
                     {"Receipt.outcome", "4", "at most 3"});
  check_out_of_range(Refused{static_cast<RefusalCode>(10), "text"}, {"Refused.code", "10", "at most 9"});
  check_out_of_range(changed<EvaluationResult>([](auto& result) { result.split = static_cast<Split>(2); }),
                     {"EvaluationResult.split", "2", "at most 1"});
  check_out_of_range(changed<Assign>([](auto& assign) {
                       assign.evaluation = Evaluation{static_cast<Split>(255), 1, 2, 3, 4};
                     }),
                     {"Assign.evaluation.split", "255", "at most 1"});
  check_out_of_range(Finish{1, 2, static_cast<Ending>(3), ""}, {"Finish.ending", "3", "at most 2"});
  check_out_of_range(Control{static_cast<Control::Command>(3)}, {"Control.command", "3", "at most 2"});
}

TEST_CASE("no incarnation and no session is 0") {
  check_out_of_range(changed<LaneWelcome>([](auto& body) { body.incarnation = 0; }), {"LaneWelcome.incarnation", "0"});
  check_out_of_range(changed<Weights>([](auto& body) { body.incarnation = 0; }), {"Weights.incarnation", "0"});
  check_out_of_range(changed<Confirm>([](auto& body) { body.incarnation = 0; }), {"Confirm.incarnation", "0"});
  check_out_of_range(changed<ShardHello>([](auto& body) { body.incarnation = 0; }), {"ShardHello.incarnation", "0"});
  check_out_of_range(changed<LaneReport>([](auto& body) { body.incarnation = 0; }), {"LaneReport.incarnation", "0"});
  check_out_of_range(changed<LaneReport>([](auto& body) {
                       body.slots_by_session = {{1, 1}, {0, 1}};
                     }),
                     {"LaneReport.slots_by_session[1].session", "0"});
  check_out_of_range(changed<WorkerWelcome>([](auto& body) { body.addresses[0].incarnation = 0; }),
                     {"WorkerWelcome.addresses[0].incarnation", "0"});
  check_out_of_range(changed<Status>([](auto& body) { body.sessions[0].session = 0; }),
                     {"Status.sessions[0].session", "0"});
}

TEST_CASE("lanes lie within their cluster") {
  check_out_of_range(changed<ShardHello>([](auto& hello) { hello.shards = wire::kMaxShards + 1; }),
                     {"ShardHello.shards", "65", "64"});
  check_out_of_range(changed<ShardHello>([](auto& hello) { hello.lanes = wire::kMaxLanes + 1; }),
                     {"ShardHello.lanes", "17", "16"});
  check_out_of_range(changed<ShardHello>([](auto& hello) { hello.lane.shard = hello.shards; }),
                     {"ShardHello.lane", "shard"});
  check_out_of_range(changed<ShardHello>([](auto& hello) { hello.lane.lane = hello.lanes; }),
                     {"ShardHello.lane", "lane"});
  check_out_of_range(changed<LaneReport>([](auto& report) { report.lane.shard = wire::kMaxShards; }),
                     {"LaneReport.lane.shard", "64", "at most 63"});
  check_out_of_range(changed<LaneReport>([](auto& report) { report.lane.lane = wire::kMaxLanes; }),
                     {"LaneReport.lane.lane", "16", "at most 15"});
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.shards = wire::kMaxShards + 1; }),
                     {"WorkerWelcome.shards", "65", "64"});
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.lanes = wire::kMaxLanes + 1; }),
                     {"WorkerWelcome.lanes", "17", "16"});
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.addresses[0].lane.shard = welcome.shards; }),
                     {"WorkerWelcome.addresses[0].lane"});
}

TEST_CASE("numbers are finite where anything else makes no sense") {
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    check_out_of_range(changed<Plan>([&](auto& plan) {
                         plan.factors = {factors_of(0.1F), factors_of(bad)};
                       }),
                       {"Plan.factors[1].learning_rate", "finite"});
    check_out_of_range(changed<Plan>([&](auto& plan) { plan.factors[0].step_size = bad; }),
                       {"Plan.factors[0].step_size", "finite"});
    check_out_of_range(changed<Plan>([&](auto& plan) { plan.factors[0].second_moment_root = bad; }),
                       {"Plan.factors[0].second_moment_root", "finite"});
    check_out_of_range(changed<Plan>([&](auto& plan) {
                         plan.prospect = Prospect{bad, 1};
                       }),
                       {"Plan.prospect.step_size", "finite"});
    check_out_of_range(changed<Plan>([&](auto& plan) {
                         plan.prospect = Prospect{1, bad};
                       }),
                       {"Plan.prospect.second_moment_root", "finite"});
    check_out_of_range(changed<Plan>([&](auto& plan) {
                         plan.factors[0].scales = {1, bad};
                       }),
                       {"Plan.factors[0].scales[1]", "finite"});
    check_out_of_range(changed<LaneReport>([&](auto& report) {
                         report.measures = {{1, 2, {1, 2, double{bad}}, true, 0, kNoSlot}};
                       }),
                       {"LaneReport.measures[0].sums[2]", "finite"});
    check_out_of_range(changed<LaneReport>([&](auto& report) { report.statistics[0].correct = bad; }),
                       {"LaneReport.statistics[0].correct", "finite"});
    check_out_of_range(changed<LaneReport>([&](auto& report) { report.statistics[0].examples = bad; }),
                       {"LaneReport.statistics[0].examples", "finite"});
    check_out_of_range(changed<Status>([&](auto& status) { status.learning_rate = double{bad}; }),
                       {"Status.learning_rate", "finite"});
    check_out_of_range(changed<Status>([&](auto& status) { status.validation.accuracy = double{bad}; }),
                       {"Status.validation.accuracy", "finite"});
    check_out_of_range(changed<Status>([&](auto& status) { status.test.accuracy = double{bad}; }),
                       {"Status.test.accuracy", "finite"});
    check_out_of_range(changed<Status>([&](auto& status) { status.best.accuracy = double{bad}; }),
                       {"Status.best.accuracy", "finite"});
  }
}

TEST_CASE("sums of squares and factors of a gradient are not negative") {
  check_out_of_range(changed<LaneReport>([](auto& report) {
                       report.measures = {{1, 2, {-0.5}, true, 0, kNoSlot}};
                     }),
                     {"LaneReport.measures[0].sums[0]", "-0.5", "not negative"});
  check_out_of_range(changed<Plan>([](auto& plan) { plan.factors[0].scales = {-2}; }),
                     {"Plan.factors[0].scales[0]", "-2", "not negative"});
  check_out_of_range(changed<Plan>([](auto& plan) { plan.factors[0].second_moment_root = -1; }),
                     {"Plan.factors[0].second_moment_root", "-1", "not negative"});
}

TEST_CASE("a fault is a slot of the work it was met in") {
  for (const Slot bad : {kMaxSlots, kNoSlot - 1}) {
    check_out_of_range(changed<Push>([&](auto& push) { push.fault = bad; }),
                       {"Push.fault", std::to_string(bad).c_str(), "at most 4095"});
  }
  for (const Slot bad : {Slot{3}, Slot{8}}) {
    check_out_of_range(changed<Push>([&](auto& push) {
                         push.node = {4, 8};
                         push.fault = bad;
                       }),
                       {"Push.fault", std::to_string(bad).c_str(), "[4, 8)", "4294967295"});
  }
  for (const Slot good : {Slot{4}, Slot{7}, kNoSlot}) {
    auto push = valid<Push>();
    push.node = {4, 8};
    push.fault = good;
    check_decodes_to(encoded(push), push);
  }
  for (const Slot bad : {kMaxSlots, kNoSlot - 1}) {
    check_out_of_range(changed<LaneReport>([&](auto& report) { report.measures[0].slot = bad; }),
                       {"LaneReport.measures[0].slot", std::to_string(bad).c_str(), "at most 4095"});
  }
  check_out_of_range(changed<LaneReport>([](auto& report) { report.measures[0].parameter = 1U << 20U; }),
                     {"LaneReport.measures[0].parameter", "1048576", "at most 1048575"});
}

TEST_CASE("counts agree with each other") {
  check_out_of_range(changed<EvaluationResult>([](auto& result) {
                       result.correct = 11;
                       result.examples = 10;
                     }),
                     {"EvaluationResult.correct", "11", "10"});
  check_out_of_range(changed<Plan>([](auto& plan) {
                       plan.first = std::numeric_limits<Step>::max() - 1;
                       plan.factors.resize(2);
                     }),
                     {"Plan.first", "18446744073709551614"});
}

}  // namespace
}  // namespace ballast
