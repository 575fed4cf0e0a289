// Lanes that let a worker wait, and how fast its link is.
#include "protocol/worker/worker.h"
#include "tests/unit/protocol/worker/worker_fixture.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// A worker of two shards of one lane each that has just said hello to both.
struct TwoLanes {
  TwoLanes() : worker(WorkerFixture::config()) {
    tick(0);
    const Message welcome =
        WorkerWelcome{1, "job", "spec", "layout", 2, 1, {{{0, 0}, 1, "tcp://a:1"}, {{1, 0}, 1, "tcp://b:2"}}};
    worker.step(worker::FromLead{&welcome});
    WorkerLayout layout;
    layout.slots = 4;
    layout.chunks = {{0, 0, 100}, {1, 1, 20}};
    layout.lanes = 2;
    layout.lead_silence = 1'000'000 * kWorkerMilli;
    worker.step(worker::Prepared{layout});
  }
  worker::Actions tick(Micros later) { return worker.step(worker::Tick{now += later}); }
  void lane(std::uint32_t lane, const Message& message) { worker.step(worker::FromLane{lane, &message, kNoPayload}); }
  // What the next heartbeat says.
  std::string waits_for() {
    for (const auto& send : all<worker::SendToLead>(tick(200 * kWorkerMilli))) {
      if (const auto* beat = std::get_if<Heartbeat>(&send.message)) {
        return beat->waits_for;
      }
    }
    return "no heartbeat";
  }

  Worker worker;
  Micros now = 5'000'000;
};

}  // namespace

TEST_CASE("a lane that answers no hello is told by its name and address, until it does") {
  TwoLanes at;
  CHECK(at.waits_for().empty());
  at.lane(0, LaneWelcome{1, 1, 1'000});
  at.tick(4'000 * kWorkerMilli);
  CHECK(at.waits_for().empty());
  at.tick(1'000 * kWorkerMilli);
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://b:2, which does not answer");
  REQUIRE(at.worker.waiting_lane() != nullptr);
  CHECK(at.worker.waiting_lane()->address == "tcp://b:2");
  at.worker.step(worker::Unreachable{1, "the name b does not resolve"});
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://b:2, which does not answer: the name b does not resolve");
  at.lane(1, LaneWelcome{1, 1, 1'000});
  CHECK(at.waits_for().empty());
  CHECK(at.worker.waiting_lane() == nullptr);
}

TEST_CASE("of several lanes that do not answer the first is named and the others are counted") {
  TwoLanes at;
  at.tick(6'000 * kWorkerMilli);
  CHECK(at.waits_for() == "lane 0 of shard 0 at tcp://a:1, which does not answer (and 1 other lane)");
}

TEST_CASE("a lane that answers that it does not serve yet is not silent; one that is full says so") {
  TwoLanes at;
  at.lane(0, LaneWelcome{1, 1, 1'000});
  for (int i = 0; i < 30; ++i) {
    at.tick(300 * kWorkerMilli);
    at.lane(1, Refused{RefusalCode::not_serving, "not yet"});
  }
  CHECK(at.waits_for().empty());
  at.lane(1, Refused{RefusalCode::too_many, "the lane has 3 sessions already"});
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://b:2, which refuses: the lane has 3 sessions already");
  at.lane(1, LaneWelcome{1, 1, 1'000});
  CHECK(at.waits_for().empty());
}

TEST_CASE("a lane that has moved is given its time anew") {
  TwoLanes at;
  at.lane(0, LaneWelcome{1, 1, 1'000});
  at.tick(6'000 * kWorkerMilli);
  const Message moved =
      WorkerWelcome{2, "job", "spec", "layout", 2, 1, {{{0, 0}, 1, "tcp://a:1"}, {{1, 0}, 2, "tcp://c:3"}}, 1};
  at.worker.step(worker::FromLead{&moved});
  CHECK(at.waits_for().empty());
  at.tick(6'000 * kWorkerMilli);
  CHECK(at.waits_for() == "lane 0 of shard 1 at tcp://c:3, which does not answer");
}

namespace {

SlotProgress progress_told(WorkerFixture& fixture) {
  for (const auto& send : all<worker::SendToLead>(fixture.tick(3'000 * kWorkerMilli))) {
    if (const auto* beat = std::get_if<Heartbeat>(&send.message)) {
      return beat->progress;
    }
  }
  FAIL("no heartbeat");
  return {};
}

}  // namespace

TEST_CASE("a worker tells how fast weights come, from when it asked for them") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.tick(1 * kWorkerMilli);
  fixture.weights(0, 0);
  fixture.tick(1 * kWorkerMilli);
  fixture.weights(1, 0);
  CHECK(progress_told(fixture).down == 60'000);
}

TEST_CASE("a worker tells how fast its sums get through, and what is sent again does not hinder it") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, kNoSlot, true});
  CHECK(to_lane<Push>(fixture.tick(500 * kWorkerMilli)).size() == 1);  // again
  fixture.tick(10 * kWorkerMilli);
  fixture.lane(Receipt{1, 0, 0, {0, 2}, ReceiptOutcome::accepted});
  const auto before = progress_told(fixture).up;
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 1, 8, kNoSlot, true});
  fixture.tick(1 * kWorkerMilli);
  fixture.lane(Receipt{1, 0, 1, {0, 2}, ReceiptOutcome::accepted});
  CHECK(before < 20'000);
  CHECK(progress_told(fixture).up == 20'000);  // 20 bytes in a millisecond
}
