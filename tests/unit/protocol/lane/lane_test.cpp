// The lane where a step is one update: its rounds, what decides on them, and its timelines.
#include <doctest/doctest.h>

#include "tests/unit/protocol/lane/lane_fixture.h"

using namespace ballast;
using namespace ballast::one_lane;

TEST_CASE("a full round is applied, the next version answers who waits for it, the older one stays") {
  Fixture fixture;
  auto actions = fixture.from_worker(kWorker, Pull{1, 1, {3}});
  CHECK(actions.empty());
  fixture.push(0, 3, {0, 2}, 100);
  actions = fixture.push(0, 3, {2, 4}, 100);
  const auto* sum = find<lane::Sum>(actions);
  const auto* apply = find<lane::Apply>(actions);
  REQUIRE(sum != nullptr);
  REQUIRE(apply != nullptr);
  CHECK(sum->join.into == 1);
  CHECK(sum->join.with == 2);
  CHECK(apply->root == 1);
  CHECK(apply->step == 0);
  CHECK(apply->factors == rate(0.5F));
  const auto* weights = find<lane::SendWeights>(actions);
  REQUIRE(weights != nullptr);
  CHECK(weights->header.version == 1);
  fixture.lane.step(lane::ReplyReleased{weights->reply});
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  weights = find<lane::SendWeights>(actions);
  REQUIRE(weights != nullptr);
  CHECK(weights->header.version == 0);
  CHECK(fixture.lane.counters().replies.served_older == 1);
}

TEST_CASE("a version older than the two that are kept is gone") {
  Fixture fixture;
  for (Step step = 0; step < 2; ++step) {
    fixture.push(step, 3, {0, 4}, 100);
    fixture.push(step, 5, {0, 4}, 40);
  }
  CHECK(fixture.lane.open_step() == 2);
  const auto actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  const auto* gone = find_to_worker<Gone>(actions);
  REQUIRE(gone != nullptr);
  CHECK(*gone == Gone{1, 3, 0, 2});
}

TEST_CASE("one word tells that a version is gone, however many chunks were asked for; those that are there come") {
  Fixture fixture;
  for (Step step = 0; step < 2; ++step) {
    fixture.push(step, 3, {0, 4}, 100);
    fixture.push(step, 5, {0, 4}, 40);
  }
  fixture.push(2, 5, {0, 4}, 40);
  auto actions = fixture.from_worker(kWorker, Pull{1, 0, {3, 5}});
  REQUIRE(actions.size() == 1);
  CHECK(*find_to_worker<Gone>(actions) == Gone{1, 5, 0, 3});  // the chunk that is the furthest
  actions = fixture.from_worker(kWorker, Pull{1, 1, {3, 5}});
  REQUIRE(actions.size() == 2);
  CHECK(find<lane::SendWeights>(actions)->header.chunk == 3);
  CHECK(*find_to_worker<Gone>(actions) == Gone{1, 5, 1, 3});
  CHECK(fixture.lane.counters().replies.gone == 3);
}

TEST_CASE("what a small lane owns goes out at once, without a wait for what the transport has") {
  auto small = config();
  small.kept_bytes = 140;
  small.reply_window_bytes = LaneConfig().reply_window_bytes;
  Fixture fixture(small);
  const auto actions = fixture.from_worker(kWorker, Pull{1, 0, {3, 5}});
  CHECK(actions.size() == 2);
  CHECK(fixture.lane.deferred_replies() == 0);
  CHECK_FALSE(fixture.lane.waits_for_release());
}

TEST_CASE("averages are sent of the newest version alone, and to whoever asked for them") {
  auto averaging = config();
  averaging.averages = true;
  Fixture fixture(averaging);
  CHECK(fixture.from_worker(kWorker, Pull{1, 1, {3}, {}, true}).empty());
  auto actions = fixture.push(0, 3, {0, 4}, 100);
  const auto* sent = find<lane::SendWeights>(actions);
  REQUIRE(sent != nullptr);
  CHECK(sent->header.version == 1);
  CHECK(sent->header.averages);
  fixture.lane.step(lane::ReplyReleased{sent->reply});
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}, {}, true});
  const auto* gone = find_to_worker<Gone>(actions);
  REQUIRE(gone != nullptr);
  CHECK(*gone == Gone{1, 3, 0, 1, true});
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  sent = find<lane::SendWeights>(actions);
  REQUIRE(sent != nullptr);
  CHECK_FALSE(sent->header.averages);
}

TEST_CASE("a contribution to a closed step is a duplicate and gets its receipt") {
  Fixture fixture;
  fixture.push(0, 3, {0, 4}, 100);
  const auto actions = fixture.push(0, 3, {0, 1}, 100);
  const auto* receipt = find_to_worker<Receipt>(actions);
  REQUIRE(receipt != nullptr);
  CHECK(receipt->outcome == ReceiptOutcome::duplicate);
  CHECK(find<lane::Drop>(actions) != nullptr);
}

TEST_CASE("replies beyond the window wait for the transport to let go of earlier ones") {
  Fixture fixture;
  auto actions = fixture.from_worker(kWorker, Pull{1, 0, {3, 5}});
  REQUIRE(actions.size() == 2);  // 140 of 150 bytes
  const auto first = find<lane::SendWeights>(actions)->reply;
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  CHECK(actions.empty());
  CHECK(fixture.lane.deferred_replies() == 1);
  actions = fixture.from_worker(kWorker, Pull{1, 0, {3}});
  CHECK(fixture.lane.deferred_replies() == 1);
  actions = fixture.lane.step(lane::ReplyReleased{first});
  const auto* weights = find<lane::SendWeights>(actions);
  REQUIRE(weights != nullptr);
  CHECK(weights->header.chunk == 3);
  CHECK(fixture.lane.deferred_replies() == 0);
}

TEST_CASE("a covered chunk without factors waits, asks once, and is applied when they come") {
  auto one = config();
  one.chunks = {{3, 100, false}};
  Fixture fixture(one);
  fixture.begin(2, {1, 0});  // knows no factors
  auto actions = fixture.push(0, 3, {0, 4}, 100, 2);
  CHECK(find<lane::Apply>(actions) == nullptr);
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  CHECK(report->planned == 0);
  actions = fixture.push(0, 3, {0, 1}, 100, 2);
  CHECK(find_to_lead<LaneReport>(actions) == nullptr);
  CHECK(fixture.lane.counters().updates.waited_for_factors == 1);
  CHECK(find<lane::Apply>(fixture.lead(plan(1, 0, 1))) == nullptr);  // of an older timeline
  CHECK(find<lane::Apply>(fixture.lead(plan(2, 0, 1))) != nullptr);
}

TEST_CASE("a plan that decides on many chunks at once is carried out a bounded number of bytes at a time") {
  auto lane_config = config();
  lane_config.chunks = {{0, 100, false}, {1, 100, false}, {2, 100, false}, {3, 100, false}, {4, 40, true}};
  lane_config.event_bytes = 150;  // two chunks are the first not to be below it
  Fixture fixture(lane_config);
  for (ChunkId chunk = 0; chunk < 5; ++chunk) {
    fixture.push(0, chunk, {0, 4}, chunk == 4 ? 40 : 100);
  }
  fixture.lead(Confirm{1, 2, {1, 1}});
  fixture.lane.step(lane::Begun{2});
  for (ChunkId chunk = 0; chunk < 5; ++chunk) {  // at step 1 of the new timeline, which has no plan yet
    CHECK(find<lane::Apply>(fixture.push(1, chunk, {0, 4}, chunk == 4 ? 40 : 100, 2)) == nullptr);
  }
  CHECK_FALSE(fixture.lane.has_more());
  std::vector<std::vector<ChunkId>> applied;
  const auto note = [&](const lane::Actions& actions) {
    applied.emplace_back();
    for (const auto& action : actions) {
      if (const auto* apply = std::get_if<lane::Apply>(&action)) {
        applied.back().push_back(apply->chunk);
      }
    }
  };
  note(fixture.lead(plan(2, 1, 4)));
  while (fixture.lane.has_more()) {
    REQUIRE(applied.size() < 9);
    note(fixture.lane.step(lane::GoOn{}));
  }
  CHECK(applied == std::vector<std::vector<ChunkId>>{{0, 1}, {2, 3}, {4}});
  CHECK(fixture.lane.open_step() == 2);
}

TEST_CASE("what a plan has decided and is still to be applied is forgotten with its timeline") {
  auto lane_config = config();
  lane_config.event_bytes = 1;
  Fixture fixture(lane_config);
  fixture.lead(Confirm{1, 2, {1, 0}});
  fixture.lane.step(lane::Begun{2});
  fixture.push(0, 3, {0, 4}, 100, 2);
  fixture.push(0, 5, {0, 4}, 40, 2);
  CHECK(find<lane::Apply>(fixture.lead(plan(2, 0, 5))) != nullptr);
  CHECK(fixture.lane.has_more());
  fixture.lead(Confirm{1, 3, {1, 0}});
  CHECK_FALSE(fixture.lane.has_more());
  CHECK(fixture.lane.step(lane::GoOn{}).empty());
}

TEST_CASE("factors that are known do not change") {
  Fixture fixture;
  fixture.push(0, 3, {0, 4}, 100);
  Plan other = plan(1, 0, 5);
  for (auto& factors : other.factors) {
    factors.learning_rate = 7;
  }
  fixture.lead(other);
  const auto actions = fixture.push(0, 5, {0, 4}, 40);
  REQUIRE(find<lane::Apply>(actions) != nullptr);
  CHECK(find<lane::Apply>(actions)->factors == rate(0.5F));
}

TEST_CASE("what a decision needs is reported until the step is applied") {
  Fixture fixture;
  fixture.begin(2, {1, 0});
  fixture.push(0, 3, {0, 4}, 100, 2);
  auto actions = fixture.push(0, 5, {0, 4}, 40, 2);
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);  // all chunks are covered: the lead can decide
  REQUIRE(report->measures.size() == 2);
  CHECK(report->measures[0] == ChunkMeasure{3, 0, {2.0}, true, 4, kNoSlot});
  fixture.lead(plan(2, 0, 1));
  CHECK(fixture.lane.open_step() == 1);
  fixture.lane.step(lane::Tick{900'000});
  actions = fixture.lane.step(lane::Tick{2'000'000});
  report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  CHECK(report->measures.empty());
}

TEST_CASE("a gradient that is not finite is never applied: it is reported with its slot, and skipped when told") {
  Fixture fixture;
  fixture.finite = false;
  fixture.fault = 2;
  fixture.push(0, 3, {2, 4}, 100);
  fixture.fault = kNoSlot;
  auto actions = fixture.push(0, 3, {0, 2}, 100);
  CHECK(find<lane::Apply>(actions) == nullptr);
  const auto* report = find_to_lead<LaneReport>(actions);
  REQUIRE(report != nullptr);
  REQUIRE(report->measures.size() == 1);
  CHECK(report->measures[0] == ChunkMeasure{3, 0, {2.0}, false, 4, 2});
  fixture.begin(2, {1, 0});
  CHECK(fixture.lane.held_payloads() == 0);
  fixture.push(0, 3, {0, 4}, 100, 2);
  auto skip = plan(2, 0, 1);
  skip.factors[0].skip = true;
  actions = fixture.lead(skip);
  REQUIRE(find<lane::Apply>(actions) != nullptr);
  CHECK(find<lane::Apply>(actions)->factors.skip);
}

TEST_CASE("a confirmation meant for another life of the shard, or repeated, confirms nothing") {
  Lane lane(config());
  const Message other = Confirm{2, 1, {0, 0}};
  lane.step(lane::Tick{1'000});
  CHECK(lane.step(lane::FromLead{&other}).empty());
  const Message own = Confirm{1, 1, {0, 0}};
  CHECK(find<lane::Begin>(lane.step(lane::FromLead{&own})) != nullptr);
  CHECK(lane.step(lane::FromLead{&own}).empty());
}

TEST_CASE("a timeline that the database knows of is not begun again") {
  auto restarted = config();
  restarted.last_timeline = 3;
  Lane lane(restarted);
  lane.step(lane::Tick{1'000});
  const Message known = Confirm{1, 3, {2, 4}};
  CHECK(lane.step(lane::FromLead{&known}).empty());
  const Message next = Confirm{1, 4, {2, 4}};
  const auto actions = lane.step(lane::FromLead{&next});
  const auto* begin = find<lane::Begin>(actions);
  REQUIRE(begin != nullptr);
  CHECK(begin->base == SnapshotId{2, 4});
  CHECK_FALSE(lane.serving());  // before it is durable here
  lane.step(lane::Begun{4});
  CHECK(lane.serving());
  CHECK(lane.open_step() == 4);
}

TEST_CASE("while a newer timeline is being put in place, nothing is served, and what was under way is given up") {
  Fixture fixture;
  fixture.push(0, 3, {0, 1}, 100);
  const auto actions = fixture.lead(Confirm{1, 2, {1, 0}});
  CHECK(find<lane::Drop>(actions) != nullptr);
  check_refused(fixture, fixture.push(0, 3, {0, 1}, 100), RefusalCode::not_serving, "not yet");
  CHECK(fixture.lane.step(lane::Begun{1}).empty());  // a late word of the older one
  CHECK_FALSE(fixture.lane.serving());
}

TEST_CASE("weights of before the base are gone, though the lane once held their successor") {
  Fixture fixture;
  fixture.begin(2, {1, 3});
  fixture.from_worker(kWorker, Pull{2, 3, {3}});
  const auto actions = fixture.from_worker(kWorker, Pull{2, 2, {3}});
  REQUIRE(find_to_worker<Gone>(actions) != nullptr);
  CHECK(*find_to_worker<Gone>(actions) == Gone{2, 3, 2, 3});
}

TEST_CASE("a report never names more sessions than may be told of, however many have come and gone") {
  auto long_lived = config();
  long_lived.steps = kMaxSessions + 10;
  Fixture fixture(long_lived);
  fixture.lead(plan(1, 0, kMaxSessions + 10));
  Micros now = 1'000;
  std::size_t named = 0;
  for (Step step = 0; step < kMaxSessions + 5; ++step) {
    fixture.lane.step(lane::Tick{now += 60'000'001});
    fixture.lead(plan(1, step, 0));  // a sign of life
    const SessionId session = 100 + step;
    fixture.from_worker(session, LaneHello{"worker", "spec", "layout"});
    fixture.push(step, 3, {0, 4}, 100, 1, false, session);
    fixture.push(step, 5, {0, 4}, 40, 1, false, session);
    const auto actions = fixture.lane.step(lane::Tick{now += 1'000'000});
    const auto* report = find_to_lead<LaneReport>(actions);
    REQUIRE(report != nullptr);
    REQUIRE(report->open_step == step + 1);
    named = report->slots_by_session.size();
  }
  CHECK(named == kMaxSessions);
}
