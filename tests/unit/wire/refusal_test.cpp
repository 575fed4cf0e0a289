#include <initializer_list>
#include <limits>
#include <string>

#include "schemas/wire_generated.h"
#include "tests/unit/wire/random_message.h"
#include "tests/unit/wire/wire_test.h"

namespace ballast {
namespace {

using Words = std::initializer_list<const char*>;

// The refusal has the code, and its text holds all the words.
void check_refused(const Decoded& decoded, RefusalCode code, Words words) {
  const auto* refused = std::get_if<Refused>(&decoded);
  REQUIRE(refused != nullptr);
  INFO(refused->text);
  CHECK(refused->code == code);
  for (const auto* word : words) {
    CHECK_MESSAGE(refused->text.find(word) != std::string::npos, word);
  }
}

void check_message_refused(const Message& message, RefusalCode code, Words words) {
  check_refused(decode_with_payload(encoded(message), message), code, words);
}

void check_out_of_range(const Message& message, Words words) {
  check_message_refused(message, RefusalCode::out_of_range, words);
}

template <typename Body>
Body valid(std::uint64_t seed = 1) {
  RandomMessages random(seed);
  return std::get<Body>(random.of_kind(Message(Body{}).index()));
}

template <typename Body, typename Change>
Body changed(Change change) {
  auto body = valid<Body>();
  change(body);
  return body;
}

StepFactors factors_of(float learning_rate) {
  StepFactors factors;
  factors.learning_rate = learning_rate;
  return factors;
}

std::span<const std::byte> bytes_of(const flatbuffers::FlatBufferBuilder& builder) {
  return std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
}

std::vector<std::byte> of_version(std::uint32_t version) {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = schema::CreateWorkerHello(builder, builder.CreateString("some name that is rather long"));
  schema::FinishEnvelopeBuffer(builder,
                               schema::CreateEnvelope(builder, version, schema::Body::WorkerHello, body.Union()));
  const auto bytes = bytes_of(builder);
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("another protocol version is named, and so is ours") {
  check_refused(decode(of_version(77), 0, false), RefusalCode::wrong_protocol, {"77", "version 5"});
  CHECK(std::holds_alternative<Message>(decode(of_version(kProtocolVersion), 0, false)));
}

TEST_CASE("another protocol version is named even if its body means nothing to us") {
  auto header = of_version(77);
  header.resize(header.size() - 24);
  check_refused(decode(header, 0, false), RefusalCode::wrong_protocol, {"77", "version 5"});
  auto ours = of_version(kProtocolVersion);
  ours.resize(ours.size() - 24);
  check_refused(decode(ours, 0, false), RefusalCode::malformed, {"not a Ballast message"});
}

TEST_CASE("what is no message is malformed") {
  check_refused(decode({}, 0, false), RefusalCode::malformed, {"0 bytes", "too short"});
  auto header = encoded(valid<Push>());
  header[4] ^= std::byte{1};  // the identifier
  check_refused(decode(header, 64, true), RefusalCode::malformed, {"not a Ballast message"});
}

TEST_CASE("a body of an unknown kind or none is malformed") {
  for (const int kind : {0, static_cast<int>(kKinds) + 1, 255}) {
    flatbuffers::FlatBufferBuilder builder;
    const auto body = schema::CreateStale(builder, 1);
    schema::FinishEnvelopeBuffer(
        builder, schema::CreateEnvelope(builder, kProtocolVersion, static_cast<schema::Body>(kind), body.Union()));
    check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed,
                  {"Envelope.body", std::to_string(kind).c_str(), "1 to 23"});
  }
  flatbuffers::FlatBufferBuilder builder;
  schema::FinishEnvelopeBuffer(builder, schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::Stale, 0));
  check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed, {"Envelope.body", "absent"});
}

TEST_CASE("a header larger than the receiver's limit is refused") {
  const auto header = encoded(valid<WorkerHello>());
  WireLimits limits;
  limits.header_bytes = header.size();
  CHECK(std::holds_alternative<Message>(decode(header, 0, false, limits)));
  limits.header_bytes = header.size() - 1;
  check_refused(decode(header, 0, false, limits), RefusalCode::out_of_range,
                {std::to_string(header.size()).c_str(), std::to_string(header.size() - 1).c_str()});
}

TEST_CASE("a payload frame comes with Push and Weights and with nothing else") {
  RandomMessages random(3);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto message = random.of_kind(kind);
    const std::string name(message_name(message));
    if (carries_payload(message)) {
      check_refused(decode(encoded(message), 0, false), RefusalCode::malformed, {name.c_str(), "without its payload"});
    } else {
      check_refused(decode(encoded(message), 4, true), RefusalCode::malformed, {name.c_str(), "must have none"});
      check_refused(decode(encoded(message), 0, true), RefusalCode::malformed, {name.c_str(), "must have none"});
    }
  }
}

TEST_CASE("a payload is whole floats of at most a chunk") {
  for (const Message& message : {Message(valid<Push>()), Message(valid<Weights>())}) {
    const auto header = encoded(message);
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{6}, kMaxChunkBytes + 4,
                                      std::numeric_limits<std::uint64_t>::max() - 3}) {
      check_refused(decode(header, bytes, true), RefusalCode::out_of_range,
                    {"payload", std::to_string(bytes).c_str(), "multiple of 4", "1048576"});
    }
    CHECK(std::holds_alternative<Message>(decode(header, 4, true)));
    CHECK(std::holds_alternative<Message>(decode(header, kMaxChunkBytes, true)));
  }
}

TEST_CASE("the slots of work are a range below the limit") {
  for (const SlotRange range : {SlotRange{0, 0}, SlotRange{5, 5}, SlotRange{6, 5}, SlotRange{0, kMaxSlots + 1}}) {
    const auto shown = std::string("[") + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
    const auto* value = shown.c_str();
    check_out_of_range(changed<Push>([&](auto& push) { push.node = range; }), {"Push.node", value, "4096"});
    check_out_of_range(changed<Receipt>([&](auto& receipt) { receipt.node = range; }), {"Receipt.node", value, "4096"});
    check_out_of_range(changed<Assign>([&](auto& assign) {
                         assign.extra = Extra{1, range};
                       }),
                       {"Assign.extra.slots", value, "4096"});
    if (range.begin != range.end) {
      check_out_of_range(changed<Assign>([&](auto& assign) { assign.standing.slots = range; }),
                         {"Assign.standing.slots", value, "4096"});
    }
  }
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
                       assign.standing.from = 9;
                       assign.standing.until = 8;
                     }),
                     {"Assign.standing.from", "9", "8"});
  for (const std::uint32_t end : {3U, 4U}) {
    check_out_of_range(changed<Assign>([&](auto& assign) {
                         assign.evaluation = Evaluation{Split::test, 1, 2, 4, end};
                       }),
                       {"Assign.evaluation", "[4, "});
  }
}

TEST_CASE("an unknown enumerator is refused") {
  check_out_of_range(changed<Receipt>([](auto& receipt) { receipt.outcome = static_cast<ReceiptOutcome>(3); }),
                     {"Receipt.outcome", "3", "at most 2"});
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
                     {"LaneReport.lane", "shard 64"});
  check_out_of_range(changed<LaneReport>([](auto& report) { report.lane.lane = wire::kMaxLanes; }),
                     {"LaneReport.lane", "lane 16"});
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.shards = wire::kMaxShards + 1; }),
                     {"WorkerWelcome.shards", "65", "64"});
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.lanes = wire::kMaxLanes + 1; }),
                     {"WorkerWelcome.lanes", "17", "16"});
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.addresses[0].lane.shard = welcome.shards; }),
                     {"WorkerWelcome.addresses[0].lane"});
}

TEST_CASE("lists are bounded") {
  const auto longest = [](const char* field, std::size_t limit) {
    return std::pair(std::string(field) + " has " + std::to_string(limit + 1), "at most " + std::to_string(limit));
  };
  const auto check = [&](const Message& message, const char* field, std::size_t limit) {
    const auto [has, most] = longest(field, limit);
    check_out_of_range(message, {has.c_str(), most.c_str()});
  };
  check(changed<Pull>([](auto& body) { body.chunks.resize(65537); }), "Pull.chunks", 65536);
  check(changed<Plan>([](auto& body) { body.factors.resize(kMaxPlanned + 1); }), "Plan.factors", kMaxPlanned);
  check(changed<WorkerWelcome>([](auto& body) { body.addresses.resize(1025); }), "WorkerWelcome.addresses", 1024);
  check(changed<LaneReport>([](auto& body) { body.missing.resize(65); }), "LaneReport.missing", 64);
  check(changed<LaneReport>([](auto& body) { body.statistics.resize(kMaxPlanned + 1); }), "LaneReport.statistics",
        kMaxPlanned);
  check(changed<LaneReport>([](auto& body) { body.slots_by_session.resize(1025); }), "LaneReport.slots_by_session",
        1024);
  check(changed<LaneReport>([](auto& body) { body.decided.resize(5); }), "LaneReport.decided", 4);
  check(changed<LaneReport>([](auto& body) { body.held.resize(4097); }), "LaneReport.held", 4096);
  check(changed<LaneReport>([](auto& body) { body.writing.resize(4097); }), "LaneReport.writing", 4096);
  check(changed<LaneReport>([](auto& body) { body.failed.resize(4097); }), "LaneReport.failed", 4096);
  check(changed<Plan>([](auto& body) { body.snapshots.resize(4097); }), "Plan.snapshots", 4096);
  check(changed<Plan>([](auto& body) { body.keep.resize(4097); }), "Plan.keep", 4096);
  check(changed<Status>([](auto& body) { body.sessions.resize(1025); }), "Status.sessions", 1024);
  check(changed<Status>([](auto& body) { body.arithmetics.resize(17); }), "Status.arithmetics", 16);
  check(changed<Push>([](auto& body) { body.marks.resize(1025); }), "Push.marks", 1024);
  check(changed<Heartbeat>([](auto& body) { body.brought.resize(257); }), "Heartbeat.brought", 256);
  check(changed<Assign>([](auto& body) { body.grants.resize(257); }), "Assign.grants", 256);
  check(changed<ShardHello>([](auto& body) { body.lives.resize(257); }), "ShardHello.lives", 256);
  check(changed<LaneReport>([](auto& body) { body.covered.resize(4097); }), "LaneReport.covered", 4096);
  check(changed<LaneReport>([](auto& body) { body.marks.resize(16385); }), "LaneReport.marks", 16384);
}

TEST_CASE("the entries of a step's or chunk's own lists are bounded in total") {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  const auto half = std::vector<float>(kMost / 2, 1.0F);
  const auto with_one_more = [&](StepFactors& first, StepFactors& second) {
    first.scales = half;
    second.scales = half;
    second.scales.push_back(1);
  };
  Plan plan;
  plan.factors.resize(2);
  with_one_more(plan.factors[0], plan.factors[1]);
  check_out_of_range(plan, {"Plan.scales has 1048577", "at most 1048576"});
  LaneReport report;
  report.incarnation = 1;
  report.decided.resize(2);
  with_one_more(report.decided[0].factors, report.decided[1].factors);
  check_out_of_range(report, {"LaneReport.decided_scales has 1048577", "at most 1048576"});
  report.decided.clear();
  report.measures.resize(2);
  report.measures[0].sums.resize(kMost);
  report.measures[1].sums.resize(1);
  check_out_of_range(report, {"LaneReport.measure_sums has 1048577", "at most 1048576"});
}

// Nobody sends so many by the default limit, but a receiver may raise it.
TEST_CASE("the measures of a report are bounded") {
  LaneReport report;
  report.incarnation = 1;
  report.measures.resize((std::size_t{1} << 20U) + 1);
  const auto header = encoded(report);
  check_refused(decode(header, 0, false), RefusalCode::out_of_range, {"the header is", "at most 16777216"});
  WireLimits limits;
  limits.header_bytes = header.size();
  check_refused(decode(header, 0, false, limits), RefusalCode::out_of_range,
                {"LaneReport.measures has 1048577", "at most 1048576"});
}

// A report whose measures count sums of their own choice.
std::vector<std::byte> report_of(const std::vector<std::uint32_t>& counts, std::size_t sums) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<schema::ChunkMeasure> measures;
  for (const auto count : counts) {
    measures.emplace_back(1, 2, count, 3, 4, true);
  }
  const auto measures_at = builder.CreateVectorOfStructs(measures);
  const auto sums_at = builder.CreateVector(std::vector<double>(sums, 1.0));
  schema::LaneReportBuilder report(builder);
  report.add_incarnation(1);
  report.add_measures(measures_at);
  report.add_measure_sums(sums_at);
  const auto body = report.Finish();
  schema::FinishEnvelopeBuffer(
      builder, schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::LaneReport, body.Union()));
  const auto bytes = bytes_of(builder);
  return {bytes.begin(), bytes.end()};
}

schema::StepFactors factors_counting(std::uint32_t scales) { return {0.1F, 0.1F, 1, scales, false}; }

TEST_CASE("the factors beside a list of scales count exactly its entries") {
  for (const std::uint32_t counted : {0U, 1U, 2U, 4U}) {
    flatbuffers::FlatBufferBuilder builder;
    const std::vector<schema::StepFactors> of_plan = {factors_counting(1), factors_counting(counted)};
    const auto factors = builder.CreateVectorOfStructs(of_plan);
    const auto scales = builder.CreateVector(std::vector<float>(3, 1.0F));
    const auto body = schema::CreatePlan(builder, 1, 2, factors, scales);
    schema::FinishEnvelopeBuffer(builder,
                                 schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::Plan, body.Union()));
    const auto decoded = decode(bytes_of(builder), 0, false);
    CHECK(std::holds_alternative<Message>(decoded) == (counted == 2));
    if (counted != 2) {
      const auto wanted = "the " + std::to_string(counted + 1);
      check_refused(decoded, RefusalCode::malformed, {"Plan.scales has 3", wanted.c_str()});
    }
  }
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<schema::DecidedStep> steps = {{1, factors_counting(1)}, {2, factors_counting(1)}};
  const auto decided = builder.CreateVectorOfStructs(steps);
  const auto scales = builder.CreateVector(std::vector<float>(3, 1.0F));
  schema::LaneReportBuilder report(builder);
  report.add_incarnation(1);
  report.add_decided(decided);
  report.add_decided_scales(scales);
  const auto body = report.Finish();
  schema::FinishEnvelopeBuffer(
      builder, schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::LaneReport, body.Union()));
  check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed,
                {"LaneReport.decided_scales has 3", "the 2"});
}

TEST_CASE("the measures beside a list of sums count exactly its entries") {
  CHECK(std::holds_alternative<Message>(decode(report_of({2, 0, 3}, 5), 0, false)));
  check_refused(decode(report_of({2, 0, 3}, 6), 0, false), RefusalCode::malformed,
                {"LaneReport.measure_sums has 6", "the 5"});
  check_refused(decode(report_of({2, 3}, 4), 0, false), RefusalCode::malformed,
                {"LaneReport.measure_sums has 4", "the 5"});
  check_refused(decode(report_of({0xFFFFFFFF, 0xFFFFFFFF, 3}, 1), 0, false), RefusalCode::malformed,
                {"LaneReport.measure_sums has 1", "the 8589934593"});
}

TEST_CASE("a million entries that share one table are refused before anything is copied") {
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString(std::string(wire::kMaxTextBytes, 'x'));
  const auto session = schema::CreateSessionStatus(builder, 1, name);
  const std::vector<flatbuffers::Offset<schema::SessionStatus>> shared(1'000'000, session);
  const auto sessions = builder.CreateVector(shared);
  schema::StatusBuilder status(builder);
  status.add_sessions(sessions);
  const auto body = status.Finish();
  schema::FinishEnvelopeBuffer(builder,
                               schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::Status, body.Union()));
  check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed, {"not a Ballast message"});
}

// Every string that is not free text, by the field's name in refusals.
template <typename Check>
void for_each_string(Check check) {
  check("LaneHello.spec_digest", [](auto text) { return changed<LaneHello>([&](auto& m) { m.spec_digest = text; }); });
  check("LaneHello.layout_digest",
        [](auto text) { return changed<LaneHello>([&](auto& m) { m.layout_digest = text; }); });
  check("WorkerHello.name", [](auto text) { return changed<WorkerHello>([&](auto& m) { m.name = text; }); });
  check("Heartbeat.fingerprint", [](auto text) { return changed<Heartbeat>([&](auto& m) { m.fingerprint = text; }); });
  check("Heartbeat.data_digest", [](auto text) { return changed<Heartbeat>([&](auto& m) { m.data_digest = text; }); });
  check("WorkerWelcome.spec_digest",
        [](auto text) { return changed<WorkerWelcome>([&](auto& m) { m.spec_digest = text; }); });
  check("WorkerWelcome.layout_digest",
        [](auto text) { return changed<WorkerWelcome>([&](auto& m) { m.layout_digest = text; }); });
  check("WorkerWelcome.addresses.address",
        [](auto text) { return changed<WorkerWelcome>([&](auto& m) { m.addresses[0].address = text; }); });
  check("ShardHello.spec_digest",
        [](auto text) { return changed<ShardHello>([&](auto& m) { m.spec_digest = text; }); });
  check("ShardHello.layout_digest",
        [](auto text) { return changed<ShardHello>([&](auto& m) { m.layout_digest = text; }); });
  check("ShardHello.initial_weights",
        [](auto text) { return changed<ShardHello>([&](auto& m) { m.initial_weights = text; }); });
  check("ShardHello.address", [](auto text) { return changed<ShardHello>([&](auto& m) { m.address = text; }); });
  check("Status.phase", [](auto text) { return changed<Status>([&](auto& m) { m.phase = text; }); });
  check("Status.sessions.name", [](auto text) { return changed<Status>([&](auto& m) { m.sessions[0].name = text; }); });
  check("Status.sessions.fingerprint",
        [](auto text) { return changed<Status>([&](auto& m) { m.sessions[0].fingerprint = text; }); });
  check("Status.told.value", [](auto text) { return changed<Status>([&](auto& m) { m.data.value = text; }); });
}

TEST_CASE("strings are bounded and printable") {
  for_each_string([](const char* field, auto with) {
    check_out_of_range(with(std::string(4097, 'x')), {field, "4097", "4096"});
    check_message_refused(with(std::string("two\nlines")), RefusalCode::malformed, {field, "0x0a at byte 3"});
    check_message_refused(with(std::string("nul\0", 4)), RefusalCode::malformed, {field, "0x00 at byte 3"});
    check_message_refused(with(std::string("caf\xE9")), RefusalCode::malformed,
                          {field, "invalid UTF-8 0xe9 at byte 3"});
  });
}

TEST_CASE("a job is text of at most 1 MiB") {
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.job.assign((1U << 20U) + 1, 'j'); }),
                     {"WorkerWelcome.job", "1048577", "1048576"});
  check_message_refused(changed<WorkerWelcome>([](auto& welcome) { welcome.job = "job: a\x1b\n"; }),
                        RefusalCode::malformed, {"WorkerWelcome.job", "0x1b at byte 6"});
  check_message_refused(changed<Refused>([](auto& refused) { refused.job = "job: a\x1b\n"; }), RefusalCode::malformed,
                        {"Refused.job", "0x1b at byte 6"});
}

TEST_CASE("free text is checked by the receiver too") {
  const auto check = [](const char* field, schema::Body kind, auto create) {
    flatbuffers::FlatBufferBuilder builder;
    const auto body = create(builder, builder.CreateString("one\ntwo"));
    schema::FinishEnvelopeBuffer(builder, schema::CreateEnvelope(builder, kProtocolVersion, kind, body.Union()));
    check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed, {field, "0x0a at byte 3"});
  };
  using Builder = flatbuffers::FlatBufferBuilder;
  using Text = flatbuffers::Offset<flatbuffers::String>;
  check("Refused.text", schema::Body::Refused, [](Builder& builder, Text text) {
    return schema::CreateRefused(builder, schema::RefusalCode::too_many, text);
  });
  check("Heartbeat.waits_for", schema::Body::Heartbeat, [](Builder& builder, Text text) {
    schema::HeartbeatBuilder beat(builder);
    beat.add_waits_for(text);
    return beat.Finish();
  });
  check("Goodbye.reason", schema::Body::Goodbye,
        [](Builder& builder, Text text) { return schema::CreateGoodbye(builder, text); });
  check("Finish.failure", schema::Body::JobFinish, [](Builder& builder, Text text) {
    return schema::CreateJobFinish(builder, 1, 2, schema::Ending::failed, text);
  });
  check("Status.job", schema::Body::Status,
        [](Builder& builder, Text text) { return schema::CreateStatus(builder, text); });
  check("Status.failure", schema::Body::Status,
        [](Builder& builder, Text text) { return schema::CreateStatus(builder, 0, 0, text); });
  check("Status.waits_for", schema::Body::Status,
        [](Builder& builder, Text text) { return schema::CreateStatus(builder, 0, 0, 0, text); });
  check("Status.trouble", schema::Body::Status,
        [](Builder& builder, Text text) { return schema::CreateStatus(builder, 0, 0, 0, 0, text); });
  check("Status.bits_trouble", schema::Body::Status,
        [](Builder& builder, Text text) { return schema::CreateStatus(builder, 0, 0, 0, 0, 0, text); });
  check("Status.sessions.refusal", schema::Body::Status, [](Builder& builder, Text text) {
    const auto session = schema::CreateSessionStatus(builder, 1, 0, true, 0, 0, 0, text);
    const auto sessions = builder.CreateVector(&session, 1);
    schema::StatusBuilder status(builder);
    status.add_sessions(sessions);
    return status.Finish();
  });
  check("Status.mode", schema::Body::Status, [](Builder& builder, Text text) {
    schema::StatusBuilder status(builder);
    status.add_mode(text);
    return status.Finish();
  });
  check("LaneReport.failure", schema::Body::LaneReport, [](Builder& builder, Text text) {
    schema::LaneReportBuilder report(builder);
    report.add_failure(text);
    return report.Finish();
  });
  check("LaneReport.trouble", schema::Body::LaneReport, [](Builder& builder, Text text) {
    schema::LaneReportBuilder report(builder);
    report.add_trouble(text);
    return report.Finish();
  });
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
                         plan.factors[0].scales = {1, bad};
                       }),
                       {"Plan.factors[0].scales[1]", "finite"});
    check_out_of_range(changed<LaneReport>([&](auto& report) { report.decided[0].factors.step_size = bad; }),
                       {"LaneReport.decided[0].factors.step_size", "finite"});
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
  for (const Slot bad : {Slot{3}, Slot{8}, kMaxSlots, kNoSlot - 1}) {
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

// 64-bit numbers written as pairs of 32-bit ones, so that they lie at 4 modulo 8 for one of the two paddings.
TEST_CASE("a list that is not aligned is refused rather than read") {
  int refused = 0;
  for (const bool padded : {false, true}) {
    flatbuffers::FlatBufferBuilder builder;
    if (padded) {
      builder.PushElement(std::uint32_t{0});
    }
    builder.StartVector(4, sizeof(std::uint32_t));
    for (const std::uint32_t half : {1U, 2U, 3U, 4U}) {
      builder.PushElement(half);
    }
    const flatbuffers::Offset<flatbuffers::Vector<std::uint64_t>> missing(builder.EndVector(2));
    schema::LaneReportBuilder report(builder);
    report.add_incarnation(1);
    report.add_missing(missing);
    const auto body = report.Finish();
    schema::FinishEnvelopeBuffer(
        builder, schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::LaneReport, body.Union()));
    const auto decoded = decode(bytes_of(builder), 0, false);
    if (std::holds_alternative<Refused>(decoded)) {
      ++refused;
      check_refused(decoded, RefusalCode::malformed, {"LaneReport.missing", "aligned"});
    }
  }
  CHECK(refused == 1);
}

}  // namespace
}  // namespace ballast
