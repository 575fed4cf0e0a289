#include "server/lane_trace.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

std::vector<TraceRecord> records_of(const LaneTrace& trace) {
  TraceAsked asked;
  return trace.part(asked).records;
}

TEST_CASE("lane trace: a contribution has what its worker and what the lane have stamped") {
  LaneTrace trace(1, 1, {2});
  Push push;
  push.step = 4;
  push.chunk = 2;
  push.node = {0, 2};
  trace.turn(900);
  trace.summed(9, 950);  // another one's
  trace.contributed(7, push, 77'000, 1'000);
  trace.turn(1'100);
  trace.summed(2, 1'250);
  trace.contributed(8, push, 0, 1'200);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0] == TraceRecord{4, 7, 77'000, 1'000, 1'000, 900, 2, {0, 2}, TraceKind::contribution});
  CHECK(records[1] == TraceRecord{4, 8, 0, 1'200, 1'250, 1'100, 2, {0, 2}, TraceKind::contribution});
}

TEST_CASE("lane trace: an update tells how long its chunk has waited for it") {
  LaneTrace trace(1, 1, {2});
  Push push;
  push.step = 4;
  push.chunk = 2;
  trace.reads(push, 400);
  trace.reads(push, 480);
  trace.summed(2, 500);
  push.step = 3;  // comes too late
  trace.reads(push, 600);
  lane::Apply update;
  update.step = 4;
  update.chunk = 2;
  trace.applied(update, 800, 900);
  push.step = 5;
  trace.reads(push, 1'700);  // a root: nothing is summed
  update.step = 5;
  trace.applied(update, 1'800, 1'900);
  update.step = 6;  // of which nothing was seen, as after a rollback
  trace.applied(update, 2'800, 2'900);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 3);
  CHECK(records[0] == TraceRecord{4, 0, 500, 800, 900, 0, 2, {}, TraceKind::update});
  CHECK(records[1].first == 1'700);
  CHECK(records[2].first == 2'800);
}

TEST_CASE("lane trace: nothing is kept of contributions to chunks that are not the lane's") {
  LaneTrace trace(1, 1, {2});
  Push push;
  push.step = 4;
  push.chunk = 1U << 27U;
  trace.reads(push, 400);
  lane::Apply update;
  update.step = push.step;
  update.chunk = push.chunk;
  trace.applied(update, 800, 900);
  CHECK(records_of(trace).at(0).first == 800);
}

TEST_CASE("lane trace: where items are updates, versions are told as steps") {
  LaneTrace trace(1, 8, {2});
  lane::Apply update;
  update.step = 4;
  update.slot = 3;
  trace.applied(update, 800, 900);
  lane::SendWeights reply;
  reply.reply = 1;
  reply.header.version = 8 * 4 + 5;
  trace.replied(reply, 100);
  trace.taken(1, 110);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0] == TraceRecord{4, 0, 800, 800, 900, 0, 0, {3, 4}, TraceKind::update});
  CHECK(records[1].step == 4);
}

TEST_CASE("lane trace: a reply ends when the transport lets go of it, once") {
  LaneTrace trace(1, 1, {2});
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
  reply.reply = 31;
  trace.replied(reply, 200);
  trace.taken(31, 0);  // was never sent
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0] == TraceRecord{5, 7, 100, 180, 0, 0, 2, {}, TraceKind::reply});
}

TEST_CASE("lane trace: snapshots that become durable, and one that fails and is taken again") {
  LaneTrace trace(1, 1, {2});
  trace.took({{1, 10}, 0}, 100);
  trace.took({{1, 10}, 1}, 150);
  trace.took({{1, 20}, 0}, 300);
  trace.done(lane::SnapshotFailed{{1, 10}, "full"}, 500, {});
  trace.done(lane::SnapshotDurable{{1, 20}}, 700, {});
  trace.took({{1, 10}, 0}, 800);
  trace.done(lane::SnapshotDurable{{1, 10}}, 900, {});
  const auto records = records_of(trace);
  REQUIRE(records.size() == 2);
  CHECK(records[0] == TraceRecord{20, 0, 300, 700, 0, 0, 0, {}, TraceKind::snapshot});
  CHECK(records[1] == TraceRecord{10, 0, 800, 900, 0, 0, 0, {}, TraceKind::snapshot});
}

TEST_CASE("lane trace: a commit of several is of each of them") {
  LaneTrace trace(1, 8, {2});
  lane::Append append;
  for (std::uint64_t ticket = 5; ticket < 9; ++ticket) {
    append.ticket = ticket;
    append.item = 8 * 3 + ticket - 5;
    append.chunk = 1;
    trace.appended(append, 900 + ticket, {});
  }
  trace.done(lane::Committed{7, 9}, 950, {});
  auto records = records_of(trace);
  REQUIRE(records.size() == 3);
  CHECK(records[0] == TraceRecord{3, 0, 905, 950, 1, 0, 1, {0, 1}, TraceKind::journal});
  CHECK(records[2].first == 907);
  trace.done(lane::Committed{8, 10}, 980, {});
  records = records_of(trace);
  REQUIRE(records.size() == 4);
  CHECK(records[3].second == 980);
}

TEST_CASE("lane trace: of what a record waits it is told what the journal's thread waited for its disk") {
  using std::chrono::microseconds;
  LaneTrace trace(1, 8, {2});
  const auto disk_of = [&](JournalDisk before, JournalDisk after) {
    lane::Append append;
    append.ticket = before.waited.count() + 1;
    trace.appended(append, 1'000, before);
    trace.done(lane::Committed{append.ticket, 9}, 1'100, after);
    const auto record = records_of(trace).back();
    return std::pair(record.third, record.fourth);
  };
  CHECK(disk_of({microseconds(500), microseconds(40)}, {microseconds(560), microseconds(60)}) == std::pair(60UL, 20UL));
  CHECK(disk_of({microseconds(700), microseconds(60)}, {microseconds(700), microseconds(60)}) == std::pair(1UL, 0UL));
  // A call was under way when it came, for so long by then: more of it than it waited for the disk at last.
  CHECK(disk_of({microseconds(800), microseconds(60), microseconds(120)}, {microseconds(970), microseconds(230)}) ==
        std::pair(50UL, 50UL));
  CHECK(disk_of({microseconds(1'000), microseconds(60), microseconds(300)}, {microseconds(1'170), microseconds(60)}) ==
        std::pair(1UL, 0UL));
}

TEST_CASE("lane trace: what its machine's link carries is said if it was declared") {
  LaneTrace silent(1, 1, {2});
  silent.line(4, 100);
  CHECK(records_of(silent).empty());
  LaneTrace trace(1, 1, {2}, DeclaredLine{1'250'000'000, 9});
  trace.line(4, 100);
  const auto records = records_of(trace);
  REQUIRE(records.size() == 1);
  CHECK(records[0] == TraceRecord{4, 9, 100, 1'250'000'000, 0, 0, 0, {}, TraceKind::line});
}

TEST_CASE("lane trace: what a thread was busy with, tenths of a second together") {
  LaneTrace trace(1, 1, {2});
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
