#include <doctest/doctest.h>

#include <string>

#include "tests/unit/protocol/worker/worker_fixture.h"

using namespace ballast;

namespace {

std::vector<Heartbeat> beats_in(const worker::Actions& actions) {
  std::vector<Heartbeat> found;
  for (const auto& send : all<worker::SendToLead>(actions)) {
    if (const auto* beat = std::get_if<Heartbeat>(&send.message)) {
      found.push_back(*beat);
    }
  }
  return found;
}

// Whether it has taken its leave with this reason, and ends without having failed.
bool takes_leave(const worker::Actions& actions, const std::string& reason) {
  const auto stops = all<worker::Stop>(actions);
  const auto sent = all<worker::SendToLead>(actions);
  const auto* goodbye = sent.empty() ? nullptr : std::get_if<Goodbye>(&sent.back().message);
  return stops.size() == 1 && stops[0].failure.empty() && goodbye != nullptr && goodbye->reason == reason;
}

// Of the two slots of step 0 it has begun one.
struct OneOfTwo : WorkerFixture {
  OneOfTwo() {
    assign(2);
    weights(0, 0);
    weights(1, 0);
    worker.step(worker::SlotBegun{0, 0});
  }

  worker::Actions drain() { return worker.step(worker::Drain{"told to"}, now); }
};

}  // namespace

TEST_CASE(
    "a worker that is to leave finishes the slot in hand and begins no other, and goes when it has its receipts") {
  OneOfTwo fixture;
  const auto told = fixture.drain();
  REQUIRE(all<worker::Amend>(told).size() == 1);
  CHECK(all<worker::Amend>(told)[0].ranges == std::vector<SlotRange>{{0, 1}});
  REQUIRE(beats_in(told).size() == 1);
  CHECK(beats_in(told)[0].progress.leaving);
  CHECK(beats_in(told)[0].progress.in_hand == 0);
  CHECK(all<worker::Stop>(told).empty());
  CHECK_FALSE(fixture.worker.has_delivered());

  fixture.worker.step(worker::GradientReady{0, {0, 1}, 1, 7, kNoSlot, true});
  fixture.worker.step(worker::GradientReady{0, {0, 1}, 0, 8, kNoSlot, true});
  CHECK(all<worker::Stop>(fixture.worker.step(worker::Computed{0, {}}, fixture.now)).empty());
  CHECK(all<worker::Stop>(fixture.lane(Receipt{1, 0, 1, {0, 1}, ReceiptOutcome::accepted})).empty());
  const auto last = fixture.lane(Receipt{1, 0, 0, {0, 1}, ReceiptOutcome::accepted});
  CHECK(takes_leave(last, "told to"));
  REQUIRE(beats_in(last).size() == 1);
  CHECK(beats_in(last)[0].progress.without_receipt == 0);
  CHECK(fixture.worker.has_delivered());
  CHECK(fixture.worker.drains() == "told to");
}

TEST_CASE("a worker that is to leave takes no more work") {
  OneOfTwo fixture;
  fixture.drain();
  const auto ordered = fixture.assign(4);
  CHECK(all<worker::Amend>(ordered).empty());
  fixture.worker.step(worker::GradientReady{0, {0, 1}, 0, 8, kNoSlot, true});
  const auto computed = fixture.worker.step(worker::Computed{0, {}}, fixture.now);
  CHECK(all<worker::Compute>(computed).empty());
  CHECK(to_lane<Pull>(computed).empty());
}

TEST_CASE("a worker that is to leave and has nothing in hand goes at once, and what it waited for is not asked for") {
  WorkerFixture fixture;
  CHECK(takes_leave(fixture.worker.step(worker::Drain{"told to"}, fixture.now), "told to"));

  WorkerFixture waiting;
  waiting.assign(2);
  CHECK(takes_leave(waiting.worker.step(worker::Drain{"told to"}, waiting.now), "told to"));
}

TEST_CASE("a worker that the lead does not know yet takes no leave of it") {
  Worker worker(WorkerFixture::config());
  worker.step(worker::Tick{5'000'000});
  const auto told = worker.step(worker::Drain{"told to"}, 5'000'000);
  REQUIRE(told.size() == 1);
  CHECK(all<worker::Stop>(told).size() == 1);
}

TEST_CASE("a worker that is to leave waits for its receipts only so long") {
  OneOfTwo fixture;
  fixture.drain();
  fixture.worker.step(worker::GradientReady{0, {0, 1}, 0, 8, kNoSlot, true});
  fixture.worker.step(worker::Computed{0, {}}, fixture.now);
  worker::Actions actions;
  Micros waited = 0;
  for (; waited < 30'000 * kWorkerMilli && all<worker::Stop>(actions).empty(); waited += 100 * kWorkerMilli) {
    fixture.assign(2);  // the lead is not what it misses
    actions = fixture.tick(100 * kWorkerMilli);
  }
  CHECK(takes_leave(actions, "told to"));
  CHECK(waited == WorkerFixture::config().drain_patience);
  CHECK_FALSE(fixture.worker.has_delivered());
}

TEST_CASE("a worker that is to leave when the job ends has not left a job that goes on") {
  OneOfTwo fixture;
  fixture.drain();
  CHECK(all<worker::Stop>(fixture.lead(Finish{1, 2, Ending::finished, ""})).size() == 1);
  CHECK(fixture.worker.drains().empty());
}
