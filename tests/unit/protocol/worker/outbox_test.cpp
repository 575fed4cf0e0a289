#include "protocol/worker/outbox.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <tuple>

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

using PayloadIds = std::vector<PayloadId>;

}  // namespace

TEST_CASE("nothing is sent before a credit is known") {
  Outbox outbox(kRetry);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  CHECK(outbox.take_sendable(0).empty());
  outbox.set_credit(1'000);
  CHECK(payloads(outbox.take_sendable(0)) == PayloadIds{1});
}

TEST_CASE("older steps go first, then earlier chunks, within the credit") {
  Outbox outbox(kRetry);
  outbox.set_credit(250);
  outbox.add(contribution(1, 0, {0, 1}, 1));
  outbox.add(contribution(0, 2, {0, 1}, 2));
  outbox.add(contribution(0, 1, {0, 1}, 3));
  CHECK(payloads(outbox.take_sendable(0)) == PayloadIds{3, 2});
  CHECK(outbox.in_flight_bytes() == 200);
  CHECK(outbox.take_sendable(10).empty());
  CHECK(outbox.receipt(1, 0, 1, {0, 1}, 20) == PayloadIds{3});
  CHECK(payloads(outbox.take_sendable(20)) == PayloadIds{1});
}

TEST_CASE("what is dropped of a slot is sent no more, and gives its credit back") {
  Outbox outbox(kRetry);
  outbox.set_credit(200);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  outbox.add(contribution(0, 1, {0, 1}, 2));
  outbox.add(contribution(0, 1, {1, 2}, 3));
  outbox.add(contribution(0, 2, {0, 1}, 4));
  outbox.add(contribution(1, 0, {0, 1}, 5));
  CHECK(payloads(outbox.take_sendable(0)) == PayloadIds{1, 2});
  CHECK(payloads(outbox.drop(0, 0)) == PayloadIds{1, 2, 4});
  CHECK_FALSE(outbox.has(0, 0));
  CHECK(outbox.in_flight_bytes() == 0);
  CHECK(payloads(outbox.take_sendable(1)) == PayloadIds{3, 5});
  CHECK(outbox.receipt(1, 0, 0, {0, 1}, 2).empty());
  CHECK(outbox.drop(0, 0).empty());
  CHECK(outbox.size() == 2);
}

TEST_CASE("a chunk larger than the credit goes alone") {
  Outbox outbox(kRetry);
  outbox.set_credit(50);
  outbox.add(contribution(0, 0, {0, 1}, 1, 400));
  outbox.add(contribution(0, 1, {0, 1}, 2, 10));
  CHECK(payloads(outbox.take_sendable(0)) == PayloadIds{1});
  CHECK(outbox.take_sendable(1).empty());
  outbox.receipt(1, 0, 0, {0, 1}, 2);
  CHECK(payloads(outbox.take_sendable(2)) == PayloadIds{2});
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
  CHECK(payloads(outbox.take_sendable(0)) == PayloadIds{1, 2});
  // The lane refuses both until it has what lies before them.
  outbox.add(contribution(3, 0, {1, 2}, 3));
  outbox.add(contribution(3, 1, {1, 2}, 4));
  CHECK(payloads(outbox.take_sendable(1)) == PayloadIds{3});
  CHECK(outbox.take_sendable(2).empty());
  CHECK(outbox.receipt(1, 3, 0, {1, 2}, 3) == PayloadIds{3});
  CHECK(payloads(outbox.take_sendable(3)) == PayloadIds{4});
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
  CHECK(outbox.receipt(1, 3, 0, {0, 2}, 1) == PayloadIds{1});
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
  CHECK(outbox.before(0, 2) == PayloadIds{1, 2});
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
  CHECK(outbox.drop_older_timelines(2) == PayloadIds{1});
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
  CHECK(payloads(outbox.take_sendable(1)) == PayloadIds{1, 2});
}

TEST_CASE("a newer contribution to the same node takes the place of the older one, whose payload and credit are free") {
  Outbox outbox(kRetry);
  outbox.set_credit(100);
  CHECK(outbox.add(contribution(0, 0, {0, 1}, 1)).empty());
  CHECK(payloads(outbox.take_sendable(0)) == PayloadIds{1});
  CHECK(outbox.add(contribution(0, 0, {0, 1}, 2)) == PayloadIds{1});
  CHECK(outbox.in_flight_bytes() == 0);
  CHECK(payloads(outbox.take_sendable(1)) == PayloadIds{2});
  CHECK(outbox.receipt(1, 0, 0, {0, 1}, 2) == PayloadIds{2});
  CHECK(outbox.empty());
}

namespace {

// As Outbox, by going through all that it has.
class PlainOutbox {
 public:
  std::vector<PayloadId> add(const Contribution& added) {
    auto free = erase([&](const Kept& kept) { return key(kept.contribution) == key(added); });
    kept_.push_back({added});
    std::sort(kept_.begin(), kept_.end(),
              [](const Kept& left, const Kept& right) { return key(left.contribution) < key(right.contribution); });
    return free;
  }
  std::vector<PayloadId> take_sendable(Micros now, std::uint64_t credit, Micros deadline) {
    std::vector<PayloadId> ids;
    bool has_credit = true;
    for (auto& kept : kept_) {
      if (kept.tries == 0) {
        has_credit = has_credit && in_flight() + kept.contribution.bytes <= credit;
        if (!has_credit && &kept != kept_.data()) {
          continue;
        }
      } else if (now - kept.sent_at < deadline * std::min(kept.tries, 8U)) {
        continue;
      }
      ++kept.tries;
      kept.sent_at = now;
      ids.push_back(kept.contribution.payload);
    }
    return ids;
  }
  std::vector<PayloadId> receipt(Timeline timeline, Step step, ChunkId chunk, Node node) {
    return erase([&](const Kept& kept) {
      return key(kept.contribution) == std::tuple(step, chunk, node) && kept.contribution.timeline == timeline;
    });
  }
  std::vector<PayloadId> before(ChunkId chunk, Step step) {
    return erase([&](const Kept& kept) { return kept.contribution.chunk == chunk && kept.contribution.step < step; });
  }
  std::vector<PayloadId> drop_older_timelines(Timeline timeline) {
    return erase([&](const Kept& kept) { return kept.contribution.timeline < timeline; });
  }
  std::vector<PayloadId> drop(Step step, Slot slot) {
    return erase(
        [&](const Kept& kept) { return kept.contribution.step == step && kept.contribution.node.contains(slot); });
  }
  void forget_sent() {
    for (auto& kept : kept_) {
      kept.tries = 0;
    }
  }
  [[nodiscard]] bool has(Step step, Slot slot) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& kept) {
      return kept.contribution.step == step && kept.contribution.node.contains(slot);
    });
  }
  [[nodiscard]] std::uint64_t in_flight() const {
    std::uint64_t bytes = 0;
    for (const auto& kept : kept_) {
      bytes += kept.tries > 0 ? kept.contribution.bytes : 0;
    }
    return bytes;
  }
  [[nodiscard]] std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    Contribution contribution;
    std::uint32_t tries = 0;
    Micros sent_at = 0;
  };
  static std::tuple<Step, ChunkId, Node> key(const Contribution& own) { return {own.step, own.chunk, own.node}; }
  template <typename Is>
  std::vector<PayloadId> erase(Is is) {
    std::vector<PayloadId> free;
    for (const auto& kept : kept_) {
      if (is(kept)) {
        free.push_back(kept.contribution.payload);
      }
    }
    std::erase_if(kept_, is);
    return free;
  }

  std::vector<Kept> kept_;
};

}  // namespace

TEST_CASE("an outbox does what going through all of it would do, whatever comes in which order") {
  constexpr LearntDeadline::Bounds kFixed{1'000, 1'000, 1'000};
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    Outbox outbox(kFixed);
    PlainOutbox plain;
    std::uint64_t credit = 0;
    Micros now = 0;
    for (PayloadId id = 1; id <= 400; ++id) {
      CAPTURE(seed);
      CAPTURE(id);
      now += below(400);
      const Step step = below(4);
      const ChunkId chunk = below(5);
      const auto begin = below(3);
      const Node node{begin, begin + 1 + below(2)};
      const auto what = below(20);
      if (what < 8) {
        const auto one = contribution(step, chunk, node, id, 10 + below(60), 1 + below(2));
        CHECK(outbox.add(one) == plain.add(one));
      } else if (what < 12) {
        const auto timeline = 1 + below(2);
        CHECK(outbox.receipt(timeline, step, chunk, node, now) == plain.receipt(timeline, step, chunk, node));
      } else if (what < 14) {
        CHECK(outbox.before(chunk, step) == plain.before(chunk, step));
      } else if (what == 14 && below(20) == 0) {
        outbox.forget_sent();
        plain.forget_sent();
      } else if (what == 15 && below(4) == 0) {
        CHECK(outbox.drop_older_timelines(2) == plain.drop_older_timelines(2));
      } else if (what == 15) {
        CHECK(payloads(outbox.drop(step, begin)) == plain.drop(step, begin));
      } else if (what == 16) {
        credit = below(300);
        outbox.set_credit(credit);
      } else if (credit > 0) {
        CHECK(payloads(outbox.take_sendable(now)) == plain.take_sendable(now, credit, 1'000));
      }
      CHECK(outbox.in_flight_bytes() == plain.in_flight());
      CHECK(outbox.size() == plain.size());
      CHECK(outbox.has(step, begin) == plain.has(step, begin));
    }
  }
}

TEST_CASE("what is withdrawn of what was offered is told at once, and of what was not offered nothing is") {
  Outbox outbox(kRetry);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  outbox.add(contribution(0, 1, {0, 1}, 2));
  outbox.add(contribution(0, 1, {1, 2}, 3));
  REQUIRE(outbox.offers(false));
  CHECK(payloads(outbox.withdraw(0, {0, 1})) == PayloadIds{1, 2});
  CHECK_FALSE(outbox.has(0, 0));
  const auto offers = outbox.offers(false);
  REQUIRE(offers);
  CHECK(*offers == std::vector<Work>{{0, 1, {1, 2}}});
  CHECK_FALSE(outbox.offers(false));
  outbox.withdraw(0, {0, 4});
  CHECK(outbox.offers(false) == std::vector<Work>{});  // the last one, too
  CHECK_FALSE(outbox.offers(true));
  outbox.add(contribution(0, 2, {2, 3}, 4));
  outbox.withdraw(0, {2, 3});
  CHECK_FALSE(outbox.offers(false));
}

TEST_CASE("an expired item's contributions are offered no more") {
  Outbox outbox(kRetry);
  outbox.add(contribution(0, 0, {0, 1}, 1));
  REQUIRE(outbox.offers(false));
  outbox.drop(0, 0);
  CHECK(outbox.offers(false) == std::vector<Work>{});
}

TEST_CASE("of each node it is known whether some of it is sent, and since when all of it waits") {
  Outbox outbox(kRetry);
  outbox.add(contribution(0, 0, {0, 1}, 1), 10);
  outbox.add(contribution(0, 1, {0, 1}, 2), 20);
  outbox.add(contribution(0, 0, {2, 4}, 3), 15);
  outbox.add(contribution(1, 0, {0, 1}, 4), 30);
  using Kept = std::vector<KeptNode>;
  CHECK(outbox.kept(0) == Kept{{{0, 1}, false, 20}, {{2, 4}, false, 15}});
  outbox.call({0, 0, {0, 1}}, 40);
  CHECK(outbox.kept(0).front().is_sent);
  outbox.receipt(1, 0, 0, {0, 1}, 50);
  CHECK(outbox.kept(0) == Kept{{{0, 1}, false, 20}, {{2, 4}, false, 15}});
  outbox.call({0, 1, {0, 1}}, 60);
  outbox.not_yet(1, {0, 1, {0, 1}});
  CHECK_FALSE(outbox.kept(0).front().is_sent);
  outbox.call({0, 1, {0, 1}}, 70);
  outbox.forget_sent();
  CHECK_FALSE(outbox.kept(0).front().is_sent);
  outbox.before(1, 1);
  CHECK(outbox.kept(0) == Kept{{{2, 4}, false, 15}});
}
