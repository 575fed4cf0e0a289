// Lists that are too long, and lists that do not agree with what counts them.
#include "tests/unit/common/wire/refusal.h"

namespace ballast {
namespace {

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
  check(changed<LaneReport>([](auto& body) { body.rounds.missing.resize(65); }), "LaneReport.rounds.missing", 64);
  check(changed<LaneReport>([](auto& body) { body.statistics.resize(kMaxPlanned + 1); }), "LaneReport.statistics",
        kMaxPlanned);
  check(changed<LaneReport>([](auto& body) { body.slots_by_session.resize(1025); }), "LaneReport.slots_by_session",
        1024);
  check(changed<LaneReport>([](auto& body) { body.held.resize(4097); }), "LaneReport.held", 4096);
  check(changed<LaneReport>([](auto& body) { body.writing.resize(4097); }), "LaneReport.writing", 4096);
  check(changed<LaneReport>([](auto& body) { body.failed.resize(4097); }), "LaneReport.failed", 4096);
  check(changed<Offers>([](auto& body) { body.works.resize(65); }), "Offers.works", 64);
  check(changed<Plan>([](auto& body) { body.snapshots.resize(4097); }), "Plan.snapshots", 4096);
  check(changed<Plan>([](auto& body) { body.keep.resize(4097); }), "Plan.keep", 4096);
  check(changed<EvaluationResult>([](auto& body) { body.counts.resize(5123); }), "EvaluationResult.counts", 5122);
  check(changed<EvaluationResult>([](auto& body) { body.sums.resize(4); }), "EvaluationResult.sums", 3);
  check(changed<Status>([](auto& body) { body.test_metrics.resize(11); }), "Status.test_metrics", 10);
  check(changed<Status>([](auto& body) { body.sessions.resize(1025); }), "Status.sessions", 1024);
  check(changed<Status>([](auto& body) { body.arithmetics.resize(17); }), "Status.arithmetics", 16);
  check(changed<Push>([](auto& body) { body.items.marks.resize(1025); }), "Push.items.marks", 1024);
  check(changed<Heartbeat>([](auto& body) { body.delivered.resize(257); }), "Heartbeat.delivered", 256);
  check(changed<Heartbeat>([](auto& body) { body.dropped.resize(257); }), "Heartbeat.dropped", 256);
  check(changed<Assign>([](auto& body) {
          body.rounds.now = StepWork{1, std::vector<SlotRange>(4097, {0, 1})};
        }),
        "Assign.rounds.now.ranges", 4096);
  check(changed<Heartbeat>([](auto& body) { body.progress.computed.resize(4097); }), "Heartbeat.progress.computed",
        4096);
  check(changed<Assign>([](auto& body) { body.items.grants.resize(257); }), "Assign.items.grants", 256);
  check(changed<ShardHello>([](auto& body) { body.lives.resize(258); }), "ShardHello.lives", 257);
  check(changed<LaneReport>([](auto& body) { body.items.covered.resize(4097); }), "LaneReport.items.covered", 4096);
  check(changed<LaneReport>([](auto& body) { body.items.marks.resize(16385); }), "LaneReport.items.marks", 16384);
}

TEST_CASE("a pull names no chunk twice, however often it might be answered") {
  check_out_of_range(changed<Pull>([](auto& body) {
                       body.chunks = {4, 4};
                     }),
                     {"Pull.chunks[1] is 4, after 4", "more than the entry before"});
  check_out_of_range(changed<Pull>([](auto& body) { body.chunks = {1, 5, 9, 7}; }), {"Pull.chunks[3] is 7, after 9"});
}

TEST_CASE("offers are in order, and none is made twice") {
  const Work offered{3, 5, {4, 8}};
  const auto refused_after = [&](const Work& second, const char* text) {
    check_out_of_range(changed<Offers>([&](auto& body) {
                         body.works = {offered, second};
                       }),
                       {text, "after step 3, chunk 5, node [4, 8)", "more than the entry before"});
  };
  refused_after(offered, "Offers.works[1] is step 3, chunk 5, node [4, 8)");
  refused_after({3, 5, {0, 4}}, "Offers.works[1] is step 3, chunk 5, node [0, 4)");
  refused_after({3, 4, {8, 9}}, "Offers.works[1] is step 3, chunk 4, node [8, 9)");
  refused_after({2, 6, {8, 9}}, "Offers.works[1] is step 2, chunk 6, node [8, 9)");
  const Offers ordered{1, {{2, 6, {8, 9}}, {3, 4, {8, 9}}, {3, 5, {0, 4}}, offered, {3, 5, {8, 9}}}};
  check_decodes_to(encoded(ordered), ordered);
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
    const auto rounds = schema::CreateRoundReport(builder, missing);
    schema::LaneReportBuilder report(builder);
    report.add_incarnation(1);
    report.add_rounds(rounds);
    const auto body = report.Finish();
    schema::FinishEnvelopeBuffer(
        builder, schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::LaneReport, body.Union()));
    const auto decoded = decode(bytes_of(builder), 0, false);
    if (std::holds_alternative<Refused>(decoded)) {
      ++refused;
      check_refused(decoded, RefusalCode::malformed, {"LaneReport.rounds.missing", "aligned"});
    }
  }
  CHECK(refused == 1);
}

}  // namespace
}  // namespace ballast
