// A worker's contributions to a lane that calls them.
#include <doctest/doctest.h>

#include "protocol/worker/lane_link.h"

using namespace ballast;

namespace {

Contribution offered(Step step, ChunkId chunk, PayloadId payload, std::uint64_t bytes = 100) {
  Contribution made;
  made.timeline = 1;
  made.step = step;
  made.chunk = chunk;
  made.node = {0, 1};
  made.payload = payload;
  made.bytes = bytes;
  return made;
}

Work work_of(Step step, ChunkId chunk) { return {step, chunk, {0, 1}}; }

struct CalledOutbox {
  Outbox outbox{{1'000, 1'000, 1'000}};
};

}  // namespace

TEST_CASE("nothing is sent that is not called, and what is called is sent once") {
  CalledOutbox at;
  at.outbox.add(offered(0, 0, 1));
  CHECK(at.outbox.take_sendable(0).empty());
  CHECK_FALSE(at.outbox.call(work_of(0, 1), 1).has_value());
  const auto sent = at.outbox.call(work_of(0, 0), 1);
  REQUIRE(sent);
  CHECK(sent->payload == 1);
  CHECK_FALSE(at.outbox.call(work_of(0, 0), 2).has_value());
  CHECK(at.outbox.take_sendable(1'000'000).empty());  // nor again, without a receipt
  CHECK(at.outbox.size() == 1);
  at.outbox.forget_sent();  // its connection has ended
  CHECK(at.outbox.take_sendable(1'000'001).empty());
  CHECK(at.outbox.call(work_of(0, 0), 1'000'001).has_value());
}

TEST_CASE("the 64 lowest are offered, in one list that takes the place of the one before") {
  CalledOutbox at;
  CHECK_FALSE(at.outbox.offers(true).has_value());
  for (ChunkId chunk = 0; chunk < 70; ++chunk) {
    at.outbox.add(offered(1, chunk, chunk + 1));
  }
  auto offers = at.outbox.offers(false);
  REQUIRE(offers);
  REQUIRE(offers->size() == kMaxOffers);
  CHECK(offers->front() == work_of(1, 0));
  CHECK(offers->back() == work_of(1, 63));
  CHECK_FALSE(at.outbox.offers(false).has_value());  // no news
  CHECK(at.outbox.offers(true).has_value());
  at.outbox.call(work_of(1, 0), 0);
  CHECK_FALSE(at.outbox.offers(false).has_value());  // the lane has enough to choose from
  at.outbox.add(offered(0, 9, 100));                 // lower than all
  offers = at.outbox.offers(false);
  REQUIRE(offers);
  CHECK(offers->front() == work_of(0, 9));
  CHECK(offers->back() == work_of(1, 63));
}

TEST_CASE("bytes given ahead are spent for the lowest, as far as they go, and the rest is given back once") {
  CalledOutbox at;
  at.outbox.add(offered(0, 1, 2));
  at.outbox.add(offered(0, 0, 1));
  at.outbox.add(offered(0, 2, 3));
  at.outbox.give_ahead(250);
  const auto sent = at.outbox.take_sendable(0);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].payload == 1);
  CHECK(sent[1].payload == 2);
  CHECK(at.outbox.has_waiting());
  CHECK(at.outbox.give_back() == 50);
  CHECK(at.outbox.give_back() == 0);
  CHECK(at.outbox.take_sendable(1).empty());
  at.outbox.give_ahead(1'000);
  at.outbox.forget_sent();  // they were the ended connection's
  CHECK(at.outbox.take_sendable(2).empty());
  CHECK(at.outbox.give_back() == 0);
}

TEST_CASE("what the lane cannot take yet waits to be called by name, and is not sent ahead again") {
  CalledOutbox at;
  at.outbox.add(offered(0, 0, 1));
  at.outbox.add(offered(0, 1, 2));
  at.outbox.give_ahead(100);
  CHECK(at.outbox.take_sendable(0).size() == 1);
  at.outbox.not_yet(2, work_of(0, 0));  // of another timeline
  at.outbox.not_yet(1, work_of(0, 1));  // which was not sent
  CHECK(at.outbox.in_flight_bytes() == 100);
  at.outbox.not_yet(1, work_of(0, 0));
  CHECK(at.outbox.in_flight_bytes() == 0);
  at.outbox.give_ahead(200);
  const auto sent = at.outbox.take_sendable(1);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].payload == 2);
  const auto offers = at.outbox.offers(false);
  REQUIRE(offers);
  CHECK(*offers == std::vector{work_of(0, 0)});
  CHECK(at.outbox.call(work_of(0, 0), 2).has_value());
}

TEST_CASE("a link heeds no call before its welcome, and each number once") {
  LaneLink link({1'000, 1'000, 1'000});
  link.outbox.add(offered(0, 0, 1));
  link.outbox.add(offered(0, 1, 2));
  CHECK_FALSE(link.called({1, work_of(0, 0)}, 0).is_new);
  link.welcome(0);
  CHECK(link.called({5, work_of(0, 0)}, 0).contribution.has_value());
  CHECK_FALSE(link.called({5, work_of(0, 0)}, 0).is_new);
  CHECK_FALSE(link.called({4, work_of(0, 1)}, 0).is_new);
  const auto none = link.called({6, work_of(0, 7)}, 0);
  CHECK(none.is_new);
  CHECK_FALSE(none.contribution.has_value());
  link.forgotten();
  link.has_room(500);  // over the connection that has ended
  link.welcome(0);
  CHECK(link.outbox.take_sendable(1).empty());
  CHECK(link.called({7, work_of(0, 0)}, 1).contribution.has_value());  // it is to be sent anew
  link.moved();
  link.welcome(0);
  CHECK(link.called({1, work_of(0, 1)}, 2).contribution.has_value());  // another life counts from one
}
