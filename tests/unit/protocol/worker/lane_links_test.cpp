#include "protocol/worker/lane_links.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kLaneSilence = 5'000;

const std::vector<LaneAddress> kAddresses{{{0, 0}, 1, "here"}, {{0, 1}, 1, "there"}, {{1, 0}, 1, "far"}};

Contribution sent(Timeline timeline, Step step, Node node, PayloadId payload) {
  Contribution made;
  made.timeline = timeline;
  made.step = step;
  made.node = node;
  made.payload = payload;
  made.bytes = 100;
  return made;
}

struct LaneLinksFixture {
  LaneLinks lanes{3, {100, 100, 100}};
};

}  // namespace

TEST_CASE("lanes are greeted until they welcome") {
  LaneLinksFixture at;
  CHECK(at.lanes.greets(1'000, 200) == std::vector<std::uint32_t>{0, 1, 2});
  at.lanes[1].welcome(1'000);
  CHECK(at.lanes.greets(1'100, 200).empty());
  CHECK(at.lanes.greets(1'200, 200) == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("the first lane that lets wait is named, and the others are counted") {
  LaneLinksFixture at;
  at.lanes.greets(1'000, 200);
  CHECK(at.lanes.waiting(kAddresses, 1'000 + kLaneSilence - 1, kLaneSilence) == nullptr);
  CHECK(at.lanes.waits_for(kAddresses, 1'000 + kLaneSilence - 1, kLaneSilence).empty());
  at.lanes[0].welcome(1'000);
  CHECK(at.lanes.waiting(kAddresses, 1'000 + kLaneSilence, kLaneSilence) == &kAddresses[1]);
  const auto text = at.lanes.waits_for(kAddresses, 1'000 + kLaneSilence, kLaneSilence);
  CHECK(text == "lane 1 of shard 0 at there, which does not answer (and 1 other lane)");
}

TEST_CASE("what is dropped is dropped at all lanes") {
  LaneLinksFixture at;
  at.lanes[0].outbox.add(sent(1, 7, {0, 1}, 70));
  at.lanes[2].outbox.add(sent(1, 7, {0, 1}, 71));
  at.lanes[2].outbox.add(sent(1, 7, {1, 2}, 72));
  const auto dropped = at.lanes.drop(7, 0);
  REQUIRE(dropped.size() == 2);
  CHECK(dropped[0].payload == 70);
  CHECK(dropped[1].payload == 71);
  CHECK_FALSE(at.lanes.has(7, 0));
  CHECK(at.lanes.outstanding() == 1);
}

TEST_CASE("a contribution is on its way until its receipt, whichever lane has it") {
  LaneLinksFixture at;
  at.lanes[1].welcome(1'000);
  at.lanes[1].outbox.add(sent(1, 7, {0, 2}, 70));
  at.lanes[2].outbox.add(sent(1, 7, {2, 4}, 71));
  at.lanes[1].outbox.take_sendable(10);
  CHECK(at.lanes.outstanding() == 2);
  CHECK(at.lanes.in_flight_bytes() == 100);
  CHECK(at.lanes.has(7, 1));
  CHECK_FALSE(at.lanes.has(8, 1));
  at.lanes[1].outbox.receipt(1, 7, 0, {0, 2}, 20);
  CHECK_FALSE(at.lanes.has(7, 1));
  CHECK(at.lanes.has(7, 3));
}

TEST_CASE("what was computed in older timelines is given up, on all lanes") {
  LaneLinksFixture at;
  at.lanes[0].outbox.add(sent(1, 7, {0, 2}, 70));
  at.lanes[1].outbox.add(sent(2, 7, {0, 2}, 71));
  at.lanes[2].outbox.add(sent(1, 7, {0, 2}, 72));
  CHECK(at.lanes.drop_older_timelines(2) == std::vector<PayloadId>{70, 72});
  CHECK(at.lanes.outstanding() == 1);
}
