#include "worker/step_trace.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

std::vector<TraceRecord> records_of(const StepTrace& trace) {
  TraceAsked asked;
  return trace.part(asked).records;
}

Push push_of(ChunkId chunk) {
  Push push;
  push.step = 4;
  push.chunk = chunk;
  push.node = {0, 2};
  return push;
}

TEST_CASE("step trace: a contribution from when it was ready until the kernel has it") {
  StepTrace trace;
  trace.ready({4, {0, 2}, 1, 60}, 100);
  trace.taken(60, 120);  // not sent yet
  CHECK(records_of(trace).empty());
  trace.sent(3, push_of(1), 60, 800, 150);
  trace.released(60);  // the receipt may come first
  trace.taken(60, 190);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0] == TraceRecord{4, 3, 100, 150, 190, 800, 1, {0, 2}, TraceKind::push});
}

TEST_CASE("step trace: what is sent again, over another connection, is let go of once for each") {
  StepTrace trace;
  trace.sent(3, push_of(1), 60, 800, 150);
  trace.sent(3, push_of(1), 60, 800, 400);
  trace.taken(60, 0);  // the first never left
  trace.taken(60, 500);
  trace.taken(60, 600);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0].second == 400);
  CHECK(records[0].third == 500);
}

TEST_CASE("step trace: weights from when they were asked for until they are stored") {
  StepTrace trace;
  Pull pull;
  pull.chunks = {1, 2};
  trace.asked(pull, 100);
  auto push = push_of(2);
  push.want_next = true;
  trace.sent(0, push, 61, 800, 200);  // asks as well
  Weights weights;
  weights.version = 5;
  for (const ChunkId chunk : {1U, 2U, 3U}) {
    weights.chunk = chunk;
    trace.arrived(6, weights, 1'000 + chunk, 77'000, 300);
  }
  trace.released(1'003);  // came too late
  for (const PayloadId payload : {1'001, 1'002, 1'003}) {
    trace.stored(payload, 400);
  }
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0] == TraceRecord{5, 6, 100, 77'000, 300, 400, 1, {}, TraceKind::pull});
  CHECK(records[1] == TraceRecord{5, 6, 200, 77'000, 300, 400, 2, {}, TraceKind::pull});
}

TEST_CASE("step trace: where items are updates, versions are told as steps") {
  StepTrace trace;
  trace.steps_have(8);
  Weights weights;
  weights.version = 8 * 4 + 5;
  trace.arrived(0, weights, 1'000, 7, 300);
  trace.stored(1'000, 400);
  REQUIRE(records_of(trace).size() == 1);
  CHECK(records_of(trace)[0].step == 4);
  CHECK(trace.step_of(8 * 5) == 5);
}

TEST_CASE("step trace: of links, once a second, what was sent again since the look before") {
  StepTrace trace;
  trace.sent(3, push_of(1), 60, 800, 150);
  Micros now = 5'000'000;
  const auto look = [&](const LinkInfo& info) {
    CHECK(trace.wants_links(now));
    trace.link(3, info, now);
    CHECK_FALSE(trace.wants_links(now + 999'999));
    now += 1'000'000;
  };
  look({4'000, 100, 9'000});  // of no time that is known
  look({4'100, 350, 9'100});
  look({4'200, 50, 9'200});  // another connection
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0] == TraceRecord{4, 3, 6'000'000, 4'100, 250, 9'100, 0, {}, TraceKind::link});
  CHECK(records[1].third == 50);
}

TEST_CASE("step trace: what its machine's link carries is said if it was declared") {
  StepTrace silent;
  silent.line(5'000'000);
  CHECK(records_of(silent).empty());
  StepTrace trace(DeclaredLine{125'000'000, 77});
  trace.sent(3, push_of(1), 60, 800, 150);
  trace.line(5'000'000);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0] == TraceRecord{4, 77, 5'000'000, 125'000'000, 0, 0, 0, {}, TraceKind::line});
}

TEST_CASE("step trace: many links are looked at more seldom") {
  StepTrace trace;
  Micros now = 5'000'000;
  CHECK(trace.wants_links(now));
  for (std::uint32_t lane = 0; lane < 1'000; ++lane) {
    trace.link(lane, {1, 0, 1}, now);
  }
  CHECK_FALSE(trace.wants_links(now + 9'999'999));
  CHECK(trace.wants_links(now + 10'000'000));
}

}  // namespace
}  // namespace ballast
