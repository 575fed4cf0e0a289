#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tests/unit/common/wire/random_message.h"
#include "tests/unit/common/wire/wire_test.h"

namespace ballast {
namespace {

StepFactors factors_with(std::size_t scales) { return {0.5F, 0.25F, 0.125F, true, std::vector<float>(scales, 0.75F)}; }

TEST_CASE("every message with random fields comes back equal") {
  RandomMessages random(20240611);
  Encoder encoder;  // one for all: nothing of a message may stay for the next
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (int i = 0; i < 200; ++i) {
      const auto message = random.of_kind(kind);
      check_decodes_to(encoder.encode(message), message);
    }
  }
}

// What it does not know is gone; what it is told keeps its rules, and would be told again in the same way.
TEST_CASE("every message with random fields can be sent to peers of older versions") {
  RandomMessages random(20261126);
  Encoder encoder;
  for (auto version = kOldestProtocolVersion; version < kProtocolVersion; ++version) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      for (int i = 0; i < 100; ++i) {
        const auto message = random.of_kind(kind);
        if (known_since(message) > version) {
          continue;
        }
        const auto sent = encoder.encode(message, version);
        const std::vector<std::byte> header(sent.begin(), sent.end());
        const auto decoded = decode_with_payload(header, message);
        CAPTURE(message_name(message));
        CHECK(decoded.version == version);
        if (const auto* refused = std::get_if<Refused>(&decoded)) {
          FAIL_CHECK(refused->text);
        } else {
          CHECK(std::ranges::equal(encoder.encode(std::get<Message>(decoded), version), header));
        }
      }
    }
  }
}

TEST_CASE("messages that may be all default come back equal") {
  check_decodes_to(encoded(LaneHello{}), LaneHello{});
  check_decodes_to(encoded(Pull{}), Pull{});
  check_decodes_to(encoded(Heartbeat{}), Heartbeat{});
  check_decodes_to(encoded(WorkerWelcome{}), WorkerWelcome{});
  check_decodes_to(encoded(Assign{}), Assign{});
  check_decodes_to(encoded(Plan{}), Plan{});
  check_decodes_to(encoded(Finish{}), Finish{});
  check_decodes_to(encoded(StatusRequest{}), StatusRequest{});
  check_decodes_to(encoded(Control{}), Control{});
  check_decodes_to(encoded(Offers{}), Offers{});
  check_decodes_to(encoded(BytesReturned{}), BytesReturned{});
  check_decodes_to(encoded(BytesAhead{}), BytesAhead{});
  check_decodes_to(encoded(Status{}), Status{});
}

TEST_CASE("lists and strings at their limits come back equal") {
  Pull pull{1, 2, std::vector<ChunkId>(wire::kMaxPullChunks), 3};
  for (std::size_t i = 0; i < pull.chunks.size(); ++i) {
    pull.chunks[i] = static_cast<ChunkId>(i * 7);
  }
  check_decodes_to(encoded(pull), pull);

  const std::string longest(wire::kMaxTextBytes, 'x');
  WorkerWelcome welcome{1, std::string(wire::kMaxJobBytes, 'j'), longest, longest, wire::kMaxShards, wire::kMaxLanes,
                        {}};
  welcome.addresses.assign(wire::kMaxAddresses, {{wire::kMaxShards - 1, wire::kMaxLanes - 1}, 1, longest});
  check_decodes_to(encoded(welcome), welcome);

  LaneReport report;
  report.incarnation = 1;
  report.rounds.missing.assign(wire::kMaxMissingWords, ~std::uint64_t{0});
  report.statistics.assign(kMaxPlanned, {1, 2, 3, 4});
  report.items.covered.assign(kMaxCoveredRanges, {5, 6});
  report.items.marks.assign(wire::kMaxReportMarks, {1, 2, 3});
  report.items.staleness.counts.assign(wire::kMaxStalenessCounts, 4);
  report.slots_by_session.assign(kMaxSessions, {5, 6});
  report.held.assign(wire::kMaxSnapshots, {1, 8});
  report.writing = report.held;
  report.failed = report.held;
  report.trouble = longest;
  report.failure = longest;
  check_decodes_to(encoded(report), report);

  Offers offers{1, std::vector<Work>(kMaxOffers)};
  for (std::size_t i = 0; i < offers.works.size(); ++i) {
    offers.works[i] = {i / 2, static_cast<ChunkId>(i % 2), {0, kMaxSlots}};
  }
  check_decodes_to(encoded(offers), offers);

  EvaluationResult result;
  result.counts.assign(wire::kMaxMetricCounts, 7);
  result.sums.assign(wire::kMaxMetricSums, -0.5);
  check_decodes_to(encoded(result), result);

  Plan plan;
  plan.factors.assign(kMaxPlanned, factors_with(wire::kMaxScales / kMaxPlanned));
  plan.snapshots.assign(wire::kMaxSnapshots, 9);
  plan.keep = report.held;
  check_decodes_to(encoded(plan), plan);

  Status status;
  status.sessions.assign(kMaxSessions, {7, longest, true, 8, 9, longest, longest, {}});
  status.best_metrics.assign(kMetricKinds, {MetricKind::absolute_error, 0.5});
  check_decodes_to(encoded(status), status);
}

// 1 MiB of sums beside so many measures that the header is just within its limit.
TEST_CASE("a report of as many measures as a header takes comes back equal") {
  LaneReport report;
  report.incarnation = 1;
  report.measures.resize(200'000);
  std::size_t sums = 0;
  for (std::size_t i = 0; i < report.measures.size(); ++i) {
    auto& measure = report.measures[i];
    measure.chunk = static_cast<ChunkId>(i);
    measure.step = 9 + i % 2;
    measure.sums.assign(i % 10, static_cast<double>(i) / 8);
    sums += measure.sums.size();
  }
  report.measures.back().sums.resize(report.measures.back().sums.size() + wire::kMaxSums - sums);
  const auto header = encoded(report);
  CHECK(header.size() > WireLimits{}.header_bytes * 7 / 8);
  check_decodes_to(header, report);
}

TEST_CASE("a plan may announce snapshots and no factors") {
  const Plan plan{1, 200, {}, {200}, {{1, 100}}, {7, {1, 100}, {1, 50}}, 180};
  check_decodes_to(encoded(plan), plan);
}

TEST_CASE("what is known of a gradient that is not finite is told as it is") {
  constexpr auto kInfinity = std::numeric_limits<double>::infinity();
  LaneReport report;
  report.incarnation = 1;
  report.measures = {{3, 7, {1, kInfinity}, false, 5, 6}, {4, 7, {2}, true, 0, kNoSlot}};
  check_decodes_to(encoded(report), report);
  report.measures[0].sums = {std::numeric_limits<double>::quiet_NaN()};
  const auto decoded = decode(encoded(report), 0, false);
  const auto& back = std::get<LaneReport>(std::get<Message>(decoded));
  CHECK(std::isnan(back.measures.at(0).sums.at(0)));
  CHECK(back.measures.at(1) == report.measures[1]);
}

TEST_CASE("a header may lie at any address") {
  RandomMessages random(7);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    auto message = random.of_kind(kind);
    if (auto* pull = std::get_if<Pull>(&message)) {
      pull->chunks.resize(1000);  // larger than the small copy
      std::iota(pull->chunks.begin(), pull->chunks.end(), 3);
    }
    const auto header = encoded(message);
    for (std::size_t shift = 0; shift < 16; ++shift) {
      std::vector<std::byte> shifted(shift + header.size());
      std::memcpy(shifted.data() + shift, header.data(), header.size());
      check_decodes_to(std::span(shifted).subspan(shift), message);
    }
  }
}

TEST_CASE("a diverging loss is told as it is") {
  for (const float loss : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    LaneReport report;
    report.incarnation = 1;
    report.statistics = {{3, loss, 1, 2}};
    const auto decoded = decode(encoded(report), 0, false);
    const auto& back = std::get<LaneReport>(std::get<Message>(decoded)).statistics.at(0).loss;
    CHECK(std::isnan(back) == std::isnan(loss));
    CHECK(std::isinf(back) == std::isinf(loss));
  }
}

TEST_CASE("free text is made fit to be sent instead of being refused") {
  const auto text_of = [](const Message& message) {
    return std::get<Finish>(std::get<Message>(decode(encoded(message), 0, false))).failure;
  };
  CHECK(text_of(Finish{1, 2, Ending::failed, "disk full\non \x1b[31mshard\xFF 3"}) == "disk full on  [31mshard  3");
  // 3-byte characters, which 4096 is no multiple of: none is cut in two.
  std::string euros;
  for (int i = 0; i < 2000; ++i) {
    euros += "\xE2\x82\xAC";
  }
  CHECK(text_of(Finish{1, 2, Ending::failed, euros}) == euros.substr(0, 4095));
  Status status;
  status.waits_for = "worker\t3";
  status.trouble = "no\nspace";
  const auto back = std::get<Status>(std::get<Message>(decode(encoded(status), 0, false)));
  CHECK(back.waits_for == "worker 3");
  CHECK(back.trouble == "no space");
  LaneReport report;
  report.incarnation = 1;
  report.trouble = std::string(wire::kMaxTextBytes + 1, 'x');
  const auto of_lane = std::get<LaneReport>(std::get<Message>(decode(encoded(report), 0, false)));
  CHECK(of_lane.trouble == std::string(wire::kMaxTextBytes, 'x'));
}

TEST_CASE("every message has its name and only two carry a payload") {
  const std::array<std::pair<Message, const char*>, kKinds> names = {{{LaneHello{}, "LaneHello"},
                                                                      {Pull{}, "Pull"},
                                                                      {Push{}, "Push"},
                                                                      {LaneWelcome{}, "LaneWelcome"},
                                                                      {Receipt{}, "Receipt"},
                                                                      {Weights{}, "Weights"},
                                                                      {Gone{}, "Gone"},
                                                                      {Stale{}, "Stale"},
                                                                      {Refused{}, "Refused"},
                                                                      {WorkerHello{}, "WorkerHello"},
                                                                      {Heartbeat{}, "Heartbeat"},
                                                                      {EvaluationResult{}, "EvaluationResult"},
                                                                      {Goodbye{}, "Goodbye"},
                                                                      {WorkerWelcome{}, "WorkerWelcome"},
                                                                      {Assign{}, "Assign"},
                                                                      {ShardHello{}, "ShardHello"},
                                                                      {LaneReport{}, "LaneReport"},
                                                                      {Confirm{}, "Confirm"},
                                                                      {Plan{}, "Plan"},

                                                                      {Finish{}, "Finish"},
                                                                      {StatusRequest{}, "StatusRequest"},
                                                                      {Control{}, "Control"},
                                                                      {Status{}, "Status"},
                                                                      {Offers{}, "Offers"},
                                                                      {CallVoid{}, "CallVoid"},
                                                                      {BytesReturned{}, "BytesReturned"},
                                                                      {Call{}, "Call"},
                                                                      {BytesAhead{}, "BytesAhead"},
                                                                      {ReturnAsked{}, "ReturnAsked"},
                                                                      {TraceAsked{}, "TraceAsked"},
                                                                      {TracePart{}, "TracePart"}}};
  for (const auto& [message, name] : names) {
    const std::string_view expected = name;
    CHECK(message_name(message) == expected);
    CHECK(carries_payload(message) == (expected == "Push" || expected == "Weights"));
  }
}

}  // namespace
}  // namespace ballast
