// A worker whose lane calls contributions.
#include <doctest/doctest.h>

#include "tests/unit/protocol/worker/worker_fixture.h"

using namespace ballast;

namespace {

// It computes step 0; nothing of it is ready yet.
struct CalledWorker : WorkerFixture {
  CalledWorker() {
    worker.step(worker::ConnectionOver{0});
    lane(LaneWelcome{1, 1, 0});
    assign(2);
    weights(0, 0);
    weights(1, 0);
  }
  worker::Actions ready(ChunkId chunk, PayloadId payload) {
    return worker.step(worker::GradientReady{0, {0, 2}, chunk, payload, kNoSlot, true});
  }
};

std::vector<PayloadId> pushed(const worker::Actions& actions) {
  std::vector<PayloadId> payloads;
  for (const auto& send : all<worker::SendToLane>(actions)) {
    if (std::holds_alternative<Push>(send.message)) {
      payloads.push_back(send.payload);
    }
  }
  return payloads;
}

}  // namespace

TEST_CASE("a worker offers what it has computed, and sends it by the call's number") {
  CalledWorker at;
  const auto actions = at.ready(1, 7);
  CHECK(to_lane<Push>(actions).empty());
  CHECK(to_lane<Offers>(actions) == std::vector<Offers>{{1, {{0, 1, {0, 2}}}}});
  const auto called = at.lane(Call{3, {0, 1, {0, 2}}});
  CHECK(pushed(called) == std::vector<PayloadId>{7});
  CHECK(to_lane<Push>(called).at(0).call == 3);
  CHECK(at.lane(Call{3, {0, 1, {0, 2}}}).empty());  // the same call, heard again
}

TEST_CASE("a call for what is not there, or was sent, is answered with none, once") {
  CalledWorker at;
  CHECK(to_lane<CallVoid>(at.lane(Call{3, {0, 1, {0, 2}}})) == std::vector<CallVoid>{{3}});
  CHECK(at.lane(Call{3, {0, 1, {0, 2}}}).empty());
  at.ready(1, 7);
  at.lane(Call{4, {0, 1, {0, 2}}});
  const auto again = at.lane(Call{5, {0, 1, {0, 2}}});
  CHECK(to_lane<CallVoid>(again) == std::vector<CallVoid>{{5}});
  CHECK(to_lane<Push>(again).empty());
}

TEST_CASE("bytes given ahead are spent without a call, and what is left is told to whoever asks for it") {
  CalledWorker at;
  CHECK(at.lane(BytesAhead{110}).empty());
  const auto actions = at.ready(0, 7);
  CHECK(pushed(actions) == std::vector<PayloadId>{7});
  CHECK(to_lane<Push>(actions).at(0).call == 0);
  CHECK(pushed(at.ready(1, 8)).empty());  // 20 bytes, of which 10 are left
  CHECK(to_lane<BytesReturned>(at.lane(ReturnAsked{9})) == std::vector<BytesReturned>{{9, 10}});
  CHECK(to_lane<BytesReturned>(at.lane(ReturnAsked{10})) == std::vector<BytesReturned>{{10, 0}});
  CHECK(pushed(at.lane(Call{11, {0, 1, {0, 2}}})) == std::vector<PayloadId>{8});
}

TEST_CASE("with the end of a computation what was given ahead and is not needed comes back unasked") {
  CalledWorker at;
  at.lane(BytesAhead{150});
  CHECK(pushed(at.ready(0, 7)) == std::vector<PayloadId>{7});
  CHECK(pushed(at.ready(1, 8)) == std::vector<PayloadId>{8});
  CHECK(to_lane<BytesReturned>(at.worker.step(worker::Computed{})) == std::vector<BytesReturned>{{0, 30}});
  CHECK(to_lane<BytesReturned>(at.lane(ReturnAsked{9})) == std::vector<BytesReturned>{{9, 0}});
}

TEST_CASE("after a connection's end a worker says hello, offers what it had sent, and has nothing ahead") {
  CalledWorker at;
  at.ready(0, 7);
  at.lane(Call{3, {0, 0, {0, 2}}});
  at.lane(BytesAhead{150});
  CHECK(to_lane<LaneHello>(at.worker.step(worker::ConnectionOver{0})).size() == 1);
  CHECK(at.lane(Call{4, {0, 0, {0, 2}}}).empty());  // before it is welcome
  const auto actions = at.lane(LaneWelcome{1, 1, 0});
  CHECK(pushed(actions).empty());
  CHECK(to_lane<Offers>(actions) == std::vector<Offers>{{1, {{0, 0, {0, 2}}}}});
  CHECK(to_lane<BytesReturned>(at.lane(ReturnAsked{5})) == std::vector<BytesReturned>{{5, 0}});
  CHECK(pushed(at.lane(Call{6, {0, 0, {0, 2}}})) == std::vector<PayloadId>{7});
}

TEST_CASE("what a lane cannot take yet is offered again") {
  CalledWorker at;
  at.lane(BytesAhead{150});
  at.ready(0, 7);
  const auto actions = at.lane(Receipt{1, 0, 0, {0, 2}, ReceiptOutcome::not_yet});
  CHECK(to_lane<Push>(actions).empty());
  CHECK(to_lane<Offers>(actions) == std::vector<Offers>{{1, {{0, 0, {0, 2}}}}});
}
