// A worker whose computation waits for a buffer.
#include <doctest/doctest.h>

#include "tests/unit/protocol/worker/worker_fixture.h"

using namespace ballast;

namespace {

constexpr Micros kOfferedFor = 200 * kWorkerMilli;

// It computes slots 0 and 2 of step 0, in this order, and waits for a buffer for the latter. The lane, which calls what
// it takes, has been offered both chunks of slot 0 for long enough.
class Waiting : public WorkerFixture {
 public:
  Waiting() {
    lane(LaneWelcome{1, 1, 0});
    lead(Assign{{1, ++order}, 1, 1, {}, {{0, 4, {0, 3}}, StepWork{0, {{0, 1}, {2, 3}}}}, {}});
    weights(0, 0);
    weights(1, 0);
    worker.step(worker::SlotBegun{0, 0});
    worker.step(worker::GradientReady{0, {0, 1}, 1, 7, kNoSlot, false});
    worker.step(worker::GradientReady{0, {0, 1}, 0, 8, kNoSlot, false});
    tick(kOfferedFor);
  }
  worker::Actions wants_buffer() { return worker.step(worker::BufferWanted{}); }
};

std::vector<PayloadId> released(const worker::Actions& actions) {
  std::vector<PayloadId> payloads;
  for (const auto& action : all<worker::Release>(actions)) {
    payloads.push_back(action.payload);
  }
  return payloads;
}

}  // namespace

TEST_CASE("a worker that waits for a buffer gives up what no lane calls, and offers it no more") {
  Waiting at;
  const auto actions = at.wants_buffer();
  CHECK(released(actions) == std::vector<PayloadId>{8, 7});
  const auto offers = to_lane<Offers>(actions);
  REQUIRE(offers.size() == 1);
  CHECK(offers.front().works.empty());
  CHECK(at.worker.counters().given_up == 1);
  CHECK(at.worker.outstanding() == 0);
}

TEST_CASE("what is given up is missing for the lead, and computed again when the rest is") {
  Waiting at;
  at.wants_buffer();
  at.worker.step(worker::SlotBegun{0, 2});
  const auto beat = beat_of(at.tick(100 * kWorkerMilli));
  REQUIRE(beat);
  CHECK(beat->progress.computed.empty());
  CHECK(beat->progress.in_hand == 2);
  const auto computes = all<worker::Compute>(at.worker.step(worker::Computed{0, {}}));
  REQUIRE(computes.size() == 1);
  CHECK(computes.front().step == 0);
  CHECK(computes.front().ranges == std::vector<SlotRange>{{0, 1}});
}

TEST_CASE("a call that comes when its work is given up is answered: there is none") {
  Waiting at;
  at.wants_buffer();
  CHECK(to_lane<CallVoid>(at.lane(Call{1, {0, 0, {0, 1}}})).size() == 1);
}

TEST_CASE("what is called is not given up, and nothing is before it was offered for a while") {
  SUBCASE("called") {
    Waiting at;
    at.lane(Call{1, {0, 0, {0, 1}}});
    CHECK(released(at.wants_buffer()).empty());
    CHECK(released(at.lane(Receipt{1, 0, 0, {0, 1}})) == std::vector<PayloadId>{8});
    CHECK(released(at.tick(1)) == std::vector<PayloadId>{7});  // the other chunk's alone keeps the buffer
  }
  SUBCASE("a moment ago") {
    Waiting at;
    at.lane(Refused{RefusalCode::unknown_session, ""});
    at.tick(kOfferedFor);
    at.lane(LaneWelcome{1, 1, 0});
    CHECK(released(at.wants_buffer()).empty());
    CHECK(released(at.tick(kOfferedFor - 1)).empty());
    CHECK(released(at.tick(1)) == std::vector<PayloadId>{8, 7});
  }
  SUBCASE("a lane is away") {
    Waiting at;
    at.wants_buffer();
    at.lane(Refused{RefusalCode::unknown_session, ""});
    CHECK(released(at.tick(10 * kOfferedFor)).empty());
  }
}

TEST_CASE("nothing is given up once the slot has begun, the computation has ended, or the worker is to leave") {
  const auto waits_no_more = [](const worker::Event& event) {
    Waiting at;
    at.lane(Call{1, {0, 0, {0, 1}}});
    at.wants_buffer();
    at.worker.step(event);
    at.lane(Receipt{1, 0, 0, {0, 1}});
    CHECK(released(at.tick(kOfferedFor)).empty());
  };
  waits_no_more(worker::SlotBegun{0, 2});
  waits_no_more(worker::Computed{0, {}});
  waits_no_more(worker::Drain{"it is told to"});
}

TEST_CASE("what a contribution that is given up was to ask for is asked for by the one that takes its place") {
  WorkerFixture at;
  at.lane(LaneWelcome{1, 1, 0});
  at.assign(4);
  at.weights(0, 0);
  at.weights(1, 0);
  const auto compute = [&](PayloadId payload) {
    at.worker.step(worker::SlotBegun{0, 0});
    at.worker.step(worker::GradientReady{0, {0, 1}, 1, payload, kNoSlot, true});
    at.worker.step(worker::GradientReady{0, {0, 1}, 0, payload + 1, kNoSlot, true});
  };
  compute(7);
  at.tick(kOfferedFor);
  CHECK(released(at.worker.step(worker::BufferWanted{})).size() == 2);
  at.worker.step(worker::SlotBegun{0, 1});
  at.worker.step(worker::Computed{0, {}});
  compute(9);
  const auto pushes = to_lane<Push>(at.lane(Call{1, {0, 0, {0, 1}}}));
  REQUIRE(pushes.size() == 1);
  CHECK(pushes.front().want_next);
}
