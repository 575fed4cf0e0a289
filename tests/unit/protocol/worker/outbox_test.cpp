#include "protocol/worker/outbox.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr LearntDeadline::Bounds kRetry{100, 1'000, 10'000};

Contribution contribution(Step step, ChunkId chunk, Node node, PayloadId payload, std::uint64_t bytes = 100,
                          Timeline timeline = 1) {
  return {timeline, step, chunk, node, false, payload, bytes};
}

std::vector<PayloadId> payloads(const std::vector<Contribution>& contributions) {
  std::vector<PayloadId> ids;
  for (const auto& each : contributions) {
    ids.push_back(each.payload);
  }
  return ids;
}

using Ids = std::vector<PayloadId>;

}  // namespace

TEST_CASE("nothing is sent before a credit is known") {
  Outbox outbox(kRetry);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  CHECK(outbox.take_sendable(0).empty());
  outbox.set_credit(1'000);
  CHECK(payloads(outbox.take_sendable(0)) == Ids{1});
}

TEST_CASE("older steps go first, then earlier chunks, within the credit") {
  Outbox outbox(kRetry);
  outbox.set_credit(250);
  outbox.add(contribution(1, 0, {0, 1}, 1));
  outbox.add(contribution(0, 2, {0, 1}, 2));
  outbox.add(contribution(0, 1, {0, 1}, 3));
  CHECK(payloads(outbox.take_sendable(0)) == Ids{3, 2});
  CHECK(outbox.in_flight_bytes() == 200);
  CHECK(outbox.take_sendable(10).empty());
  CHECK(outbox.receipt(1, 0, 1, {0, 1}, 20) == Ids{3});
  CHECK(payloads(outbox.take_sendable(20)) == Ids{1});
}

TEST_CASE("a chunk larger than the credit goes alone") {
  Outbox outbox(kRetry);
  outbox.set_credit(50);
  outbox.add(contribution(0, 0, {0, 1}, 1, 400));
  outbox.add(contribution(0, 1, {0, 1}, 2, 10));
  CHECK(payloads(outbox.take_sendable(0)) == Ids{1});
  CHECK(outbox.take_sendable(1).empty());
  outbox.receipt(1, 0, 0, {0, 1}, 2);
  CHECK(payloads(outbox.take_sendable(2)) == Ids{2});
}

TEST_CASE("what has no receipt is sent again, ever more slowly, and counts once against the credit") {
  Outbox outbox(kRetry);
  outbox.set_credit(1'000);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  CHECK(outbox.take_sendable(0).size() == 1);
  CHECK(outbox.take_sendable(999).empty());
  CHECK(outbox.take_sendable(1'000).size() == 1);
  CHECK(outbox.take_sendable(2'999).empty());
  CHECK(outbox.take_sendable(3'000).size() == 1);
  CHECK(outbox.retries() == 2);
  CHECK(outbox.in_flight_bytes() == 100);
  outbox.receipt(1, 0, 0, {0, 1}, 3'001);
  CHECK(outbox.in_flight_bytes() == 0);
  CHECK(outbox.empty());
}

TEST_CASE("the oldest goes though the credit is used up by what is newer") {
  Outbox outbox(kRetry);
  outbox.set_credit(200);
  outbox.add(contribution(4, 0, {0, 1}, 1));
  outbox.add(contribution(4, 0, {1, 2}, 2));
  CHECK(payloads(outbox.take_sendable(0)) == Ids{1, 2});
  // The lane refuses both until it has what lies before them.
  outbox.add(contribution(3, 0, {1, 2}, 3));
  outbox.add(contribution(3, 1, {1, 2}, 4));
  CHECK(payloads(outbox.take_sendable(1)) == Ids{3});
  CHECK(outbox.take_sendable(2).empty());
  CHECK(outbox.receipt(1, 3, 0, {1, 2}, 3) == Ids{3});
  CHECK(payloads(outbox.take_sendable(3)) == Ids{4});
}

TEST_CASE("a receipt frees exactly the contribution it names") {
  Outbox outbox(kRetry);
  outbox.set_credit(1'000);
  outbox.add(contribution(3, 0, {0, 2}, 1));
  outbox.take_sendable(0);
  CHECK(outbox.receipt(1, 2, 0, {0, 2}, 1).empty());
  CHECK(outbox.receipt(1, 3, 1, {0, 2}, 1).empty());
  CHECK(outbox.receipt(1, 3, 0, {0, 1}, 1).empty());
  CHECK(outbox.receipt(2, 3, 0, {0, 2}, 1).empty());
  CHECK(outbox.receipt(1, 3, 0, {0, 2}, 1) == Ids{1});
  CHECK(outbox.receipt(1, 3, 0, {0, 2}, 1).empty());
}

TEST_CASE("a newer version of a chunk is a receipt for all its older contributions") {
  Outbox outbox(kRetry);
  outbox.set_credit(1'000);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  outbox.add(contribution(1, 0, {0, 1}, 2));
  outbox.add(contribution(1, 1, {0, 1}, 3));
  outbox.add(contribution(2, 0, {0, 1}, 4));
  outbox.take_sendable(0);
  CHECK(outbox.before(0, 2) == Ids{1, 2});
  CHECK(outbox.size() == 2);
  CHECK(outbox.in_flight_bytes() == 200);
  CHECK(outbox.has(1, 0));
  CHECK_FALSE(outbox.has(0, 0));
}

TEST_CASE("a new timeline takes the older ones' contributions along") {
  Outbox outbox(kRetry);
  outbox.set_credit(1'000);
  outbox.add(contribution(5, 0, {0, 1}, 1, 100, 1));
  outbox.add(contribution(3, 0, {0, 1}, 2, 100, 2));
  outbox.take_sendable(0);
  CHECK(outbox.drop_older_timelines(2) == Ids{1});
  CHECK(outbox.size() == 1);
  CHECK(outbox.in_flight_bytes() == 100);
}

TEST_CASE("a lane that forgot the session is sent everything again") {
  Outbox outbox(kRetry);
  outbox.set_credit(1'000);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  outbox.add(contribution(0, 1, {0, 1}, 2));
  outbox.take_sendable(0);
  outbox.forget_sent();
  CHECK(outbox.in_flight_bytes() == 0);
  CHECK(payloads(outbox.take_sendable(1)) == Ids{1, 2});
}

TEST_CASE("a newer contribution to the same node takes the place of the older one, whose payload and credit are free") {
  Outbox outbox(kRetry);
  outbox.set_credit(100);
  CHECK(outbox.add(contribution(0, 0, {0, 1}, 1)).empty());
  CHECK(payloads(outbox.take_sendable(0)) == Ids{1});
  CHECK(outbox.add(contribution(0, 0, {0, 1}, 2)) == Ids{1});
  CHECK(outbox.in_flight_bytes() == 0);
  CHECK(payloads(outbox.take_sendable(1)) == Ids{2});
  CHECK(outbox.receipt(1, 0, 0, {0, 1}, 2) == Ids{2});
  CHECK(outbox.empty());
}
