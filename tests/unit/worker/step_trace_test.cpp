#include "worker/step_trace.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

std::vector<TraceRecord> records_of(const StepTrace& trace) {
  TraceAsked asked;
  asked.steps = 1U << 20U;
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
  trace.sent(3, push_of(1), 60, 150);
  trace.released(60);  // the receipt may come first
  trace.taken(60, 190);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0] == TraceRecord{4, 3, 100, 150, 190, 0, 1, {0, 2}, TraceKind::push});
}

TEST_CASE("step trace: weights from when they were asked for until they are stored") {
  StepTrace trace;
  Pull pull;
  pull.chunks = {1, 2};
  trace.asked(pull, 100);
  auto push = push_of(2);
  push.want_next = true;
  trace.sent(0, push, 61, 200);  // asks as well
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

}  // namespace
}  // namespace ballast
