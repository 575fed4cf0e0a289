// Weights, gradients, receipts, and how a worker ends.
#include "protocol/worker/worker.h"
#include "tests/unit/protocol/states.h"
#include "tests/unit/protocol/worker/worker_fixture.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("a worker computes when all chunks of the version are there, and not before") {
  WorkerFixture fixture;
  const auto pulls = to_lane<Pull>(fixture.assign(2));
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 0, {0, 1}});
  auto actions = fixture.weights(0, 0);
  CHECK(all<worker::Store>(actions).size() == 1);
  CHECK(all<worker::Compute>(actions).empty());
  actions = fixture.weights(1, 0);
  const auto computes = all<worker::Compute>(actions);
  REQUIRE(computes.size() == 1);
  CHECK(computes[0].step == 0);
  CHECK(computes[0].ranges == std::vector<SlotRange>{{0, 2}});
}

TEST_CASE("an evaluation is of the averages, and training goes on from the weights") {
  WorkerFixture fixture({}, true);
  const Evaluation evaluation{Split::validation, 0, 2, 0, 10};
  auto pulls = to_lane<Pull>(fixture.lead(Assign{{1, ++fixture.order}, 1, 1, evaluation, {{2, 4, {0, 2}}, {}}, {}}));
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 2, {0, 1}, {}, true});
  CHECK(all<worker::Store>(fixture.weights(0, 2)).empty());  // not asked for: those that training left
  fixture.lane(Weights{1, 1, 0, 2, {}, 0, true}, ++fixture.payloads);
  auto actions = fixture.lane(Weights{1, 1, 1, 2, {}, 0, true}, ++fixture.payloads);
  CHECK(all<worker::Evaluate>(actions).size() == 1);
  actions = fixture.worker.step(worker::Evaluated{{1, Split::validation, 0, 2, 1.0, 5, 10}});
  CHECK(all<worker::Compute>(actions).empty());
  pulls = to_lane<Pull>(actions);
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 2, {0, 1}});
  fixture.weights(0, 2);
  CHECK(all<worker::Compute>(fixture.weights(1, 2)).size() == 1);
}

TEST_CASE("an average that is gone is asked for no more") {
  WorkerFixture fixture({}, true);
  const Evaluation evaluation{Split::validation, 0, 2, 0, 10};
  fixture.lead(Assign{{1, ++fixture.order}, 1, 1, evaluation, {{2, 4, {0, 2}}, {}}, {}});
  const auto pulls = to_lane<Pull>(fixture.lane(Gone{1, 0, 2, 3, true}));
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0] == Pull{1, 2, {0, 1}});  // for training, of which the version may still be there
}

TEST_CASE("weights that nobody asked for are given up") {
  WorkerFixture fixture;
  fixture.assign(2);
  const auto actions = fixture.weights(0, 1);
  CHECK(all<worker::Store>(actions).empty());
  const auto releases = all<worker::Release>(actions);
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].payload == fixture.payloads);
}

TEST_CASE("weights that come during a computation are stored after it") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  auto actions = fixture.worker.step(worker::GradientReady{0, {0, 2}, 1, 7, kNoSlot, true});
  auto pushes = to_lane<Push>(actions);
  REQUIRE(pushes.size() == 1);
  CHECK(pushes[0].want_next);
  actions = fixture.weights(1, 1);
  CHECK(all<worker::Store>(actions).empty());
  // The next version of its chunk is a receipt for the gradient.
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(all<worker::Release>(actions)[0].payload == 7);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 8, kNoSlot, true});
  actions = fixture.worker.step(worker::Computed{0, {}});
  REQUIRE(all<worker::Store>(actions).size() == 1);
  CHECK(all<worker::Store>(actions)[0].version == 1);
}

TEST_CASE("weights that come during a computation are a receipt for what it brings of their chunk afterwards") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 1}, 1, 7, kNoSlot, true});
  fixture.weights(1, 1);  // others have brought the rest
  fixture.worker.step(worker::GradientReady{0, {1, 2}, 1, 8, kNoSlot, true});
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 9, kNoSlot, true});
  const auto releases = all<worker::Release>(fixture.worker.step(worker::Computed{0, {}}));
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].payload == 8);
  CHECK(fixture.worker.outstanding() == 1);
}

TEST_CASE("a gradient is kept and sent again until its receipt comes") {
  WorkerFixture fixture;
  fixture.assign(1);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, kNoSlot, true});
  CHECK(fixture.worker.in_flight_bytes() == 100);
  CHECK(to_lane<Push>(fixture.tick(99 * kWorkerMilli)).empty());
  CHECK(to_lane<Push>(fixture.tick(1 * kWorkerMilli)).size() == 1);
  auto actions = fixture.lane(Receipt{1, 0, 0, {0, 1}, ReceiptOutcome::accepted});
  CHECK(all<worker::Release>(actions).empty());
  actions = fixture.lane(Receipt{1, 0, 0, {0, 2}, ReceiptOutcome::accepted});
  REQUIRE(all<worker::Release>(actions).size() == 1);
  CHECK(fixture.worker.outstanding() == 0);
}

TEST_CASE("a lane that forgot the session is greeted again and sent everything again") {
  WorkerFixture fixture;
  fixture.assign(1);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 7, kNoSlot, true});
  fixture.lane(Refused{RefusalCode::unknown_session, "say hello first"});
  CHECK(fixture.worker.in_flight_bytes() == 0);
  CHECK(to_lane<LaneHello>(fixture.tick(1 * kWorkerMilli)).size() == 1);
  CHECK(to_lane<Push>(fixture.lane(LaneWelcome{1, 1, 1'000})).size() == 1);
}

TEST_CASE("a worker that the lead gave up says hello again") {
  WorkerFixture fixture;
  fixture.lead(Refused{RefusalCode::unknown_session, "say hello first"});
  bool said = false;
  for (const auto& send : all<worker::SendToLead>(fixture.tick(1 * kWorkerMilli))) {
    said = said || std::holds_alternative<WorkerHello>(send.message);
  }
  CHECK(said);
}

TEST_CASE("a worker leaves when the lead is silent, but not because it slept itself") {
  WorkerFixture fixture;
  CHECK(all<worker::Stop>(fixture.tick(60'000 * kWorkerMilli)).empty());
  worker::Actions actions;
  for (int i = 0; i < 12 && all<worker::Stop>(actions).empty(); ++i) {
    actions = fixture.tick(100 * kWorkerMilli);
  }
  REQUIRE(all<worker::Stop>(actions).size() == 1);
  CHECK(all<worker::Stop>(actions)[0].failure.find("lead") != std::string::npos);
}

TEST_CASE("a worker that fails says goodbye, and ends as the failure is") {
  for (const auto& failed :
       {worker::Failed{"a disk"}, worker::Failed{"no backend", true}, worker::Failed{"no file", true, true}}) {
    WorkerFixture fixture;
    const auto actions = fixture.worker.step(failed, fixture.now);
    const auto stops = all<worker::Stop>(actions);
    REQUIRE(stops.size() == 1);
    CHECK(stops[0].failure == failed.text);
    CHECK(stops[0].for_good == failed.for_good);
    CHECK(stops[0].of_data == failed.of_data);
    const auto sent = all<worker::SendToLead>(actions);
    REQUIRE(sent.size() == 1);
    CHECK(std::get<Goodbye>(sent[0].message).reason == failed.text);
  }
}

TEST_CASE("a worker that has stopped gives up what still comes, and nothing else") {
  WorkerFixture fixture;
  fixture.lead(Finish{1, 2, Ending::finished, ""});
  const auto actions = fixture.weights(0, 0);
  REQUIRE(actions.size() == 1);
  CHECK(all<worker::Release>(actions).size() == 1);
  CHECK(fixture.tick(100 * kWorkerMilli).empty());
}

TEST_CASE("a worker that is copied while it computes goes on without the original, and the original without it") {
  Computing original;
  Computing copy = original;
  const auto before = original.worker;
  CHECK(differences(before, copy.worker) == Differences{});
  const auto end_step = [](WorkerFixture& fixture) {
    fixture.lane(Receipt{1, 0, 1, {0, 2}, ReceiptOutcome::accepted});
    auto pushes = to_lane<Push>(fixture.worker.step(worker::GradientReady{0, {0, 2}, 0, 8, kNoSlot, true}));
    fixture.worker.step(worker::Computed{0, {}});
    return pushes;
  };

  const auto pushes = end_step(copy);
  REQUIRE(pushes.size() == 1);
  CHECK_FALSE(copy.worker.computing());
  CHECK(copy.worker.in_flight_bytes() == 100);
  CHECK(differences(before, original.worker) == Differences{});
  CHECK(differences(before, copy.worker) != Differences{});

  CHECK(end_step(original) == pushes);
  CHECK(differences(original.worker, copy.worker) == Differences{});
  CHECK_FALSE(original.worker.computing());
  CHECK(original.worker.in_flight_bytes() == 100);

  original.lead(Finish{1, 2, Ending::finished, ""});
  CHECK(original.tick(100 * kWorkerMilli).empty());
  CHECK_FALSE(copy.tick(100 * kWorkerMilli).empty());
}

TEST_CASE("the slot that is not finite travels with its contribution") {
  WorkerFixture fixture;
  fixture.assign(2);
  fixture.weights(0, 0);
  fixture.weights(1, 0);
  const auto pushes = to_lane<Push>(fixture.worker.step(worker::GradientReady{0, {0, 2}, 1, 7, 1, true}));
  REQUIRE(pushes.size() == 1);
  CHECK(pushes[0].fault == 1);
}

TEST_CASE("the job says for how long a worker waits for a lead that is gone") {
  Worker worker(WorkerFixture::config());  // which would wait for a second
  worker.step(worker::Tick{5'000 * kWorkerMilli});
  const Message welcome = WorkerWelcome{1, "job", "spec", "layout", 1, 1, {{{0, 0}, 1, "here"}}};
  worker.step(worker::FromLead{&welcome});
  WorkerLayout layout;
  layout.lanes = 1;
  layout.lead_silence = 3'000 * kWorkerMilli;
  worker.step(worker::Prepared{layout});
  worker.step(worker::Tick{5'100 * kWorkerMilli});  // the lead was heard of
  for (Micros now = 5'200 * kWorkerMilli; now <= 8'100 * kWorkerMilli; now += 100 * kWorkerMilli) {
    REQUIRE(all<worker::Stop>(worker.step(worker::Tick{now})).empty());
  }
  CHECK(all<worker::Stop>(worker.step(worker::Tick{8'200 * kWorkerMilli})).size() == 1);
}
