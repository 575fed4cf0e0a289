#include "server/lane_trace.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

std::vector<TraceRecord> records_of(const LaneTrace& trace) {
  TraceAsked asked;
  asked.steps = 1U << 20U;
  return trace.part(asked).records;
}

TEST_CASE("lane trace: a contribution has what its worker and what the lane have stamped") {
  LaneTrace trace(1);
  Push push;
  push.step = 4;
  push.chunk = 2;
  push.node = {0, 2};
  trace.turn(900);
  trace.summed(950);  // another one's
  trace.contributed(7, push, 77'000, 1'000);
  trace.turn(1'100);
  trace.summed(1'250);
  trace.contributed(8, push, 0, 1'200);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0] == TraceRecord{4, 7, 77'000, 1'000, 1'000, 900, 2, {0, 2}, TraceKind::contribution});
  CHECK(records[1] == TraceRecord{4, 8, 0, 1'200, 1'250, 1'100, 2, {0, 2}, TraceKind::contribution});
}

TEST_CASE("lane trace: an update tells how long its chunk has waited for it") {
  LaneTrace trace(1);
  lane::Apply update;
  update.step = 4;
  update.chunk = 2;
  trace.measured(2, 500);
  trace.applied(update, 800, 900);
  update.step = 5;
  trace.applied(update, 1'800, 1'900);  // nothing was measured
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0].first == 500);
  CHECK(records[0].second == 800);
  CHECK(records[0].third == 900);
  CHECK(records[1].first == 1'800);
}

TEST_CASE("lane trace: a reply ends when the transport lets go of it, once") {
  LaneTrace trace(1);
  lane::SendWeights reply;
  reply.session = 7;
  reply.reply = 30;
  reply.header.chunk = 2;
  reply.header.version = 5;
  trace.replied(reply, 100);
  trace.taken(31, 150);  // not known
  CHECK(records_of(trace).empty());
  trace.taken(30, 180);
  trace.taken(30, 190);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0] == TraceRecord{5, 7, 100, 180, 0, 0, 2, {}, TraceKind::reply});
}

TEST_CASE("lane trace: storage that answers, and a snapshot that never does") {
  LaneTrace trace(1);
  trace.took({{1, 10}, 0}, 100);
  trace.took({{1, 10}, 1}, 150);
  trace.took({{1, 20}, 0}, 300);
  trace.done(lane::SnapshotDurable{{1, 20}}, 8, 700);
  trace.done(lane::SnapshotDurable{{1, 10}}, 8, 800);  // has given way
  lane::Append append;
  append.ticket = 5;
  append.item = 8 * 3 + 2;
  append.chunk = 1;
  trace.appended(append, 900);
  trace.done(lane::Committed{5, 9}, 8, 950);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0] == TraceRecord{20, 0, 300, 700, 0, 0, 0, {}, TraceKind::snapshot});
  CHECK(records[1] == TraceRecord{3, 0, 900, 950, 0, 0, 1, {2, 3}, TraceKind::journal});
}

TEST_CASE("lane trace: what a thread was busy with, tenths of a second together") {
  LaneTrace trace(1);
  trace.worked(1, 10, 1'000);
  for (Micros now = 11'000; now <= 101'000; now += 10'000) {
    trace.worked(2, 5'000, now);
  }
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0].first == 1'000);
  CHECK(records[0].second == 101'000);
  CHECK(records[0].third == 50'000);
  CHECK(records[0].fourth < 100'000);
}

}  // namespace
}  // namespace ballast
