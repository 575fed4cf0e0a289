#include "protocol/worker/pulled_weights.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

using Ask = PulledWeights::Ask;

constexpr Micros kPullPatience = 100'000;

Weights weights(ChunkId chunk, Version version, LeadNumber clock = {}) {
  return {1, 70, chunk, version, clock, version};
}

// Two chunks, to be computed from at version 3.
struct PulledWeightsFixture {
  PulledWeightsFixture() { held.aim(WeightsKey{3, {}}); }
  void store(ChunkId chunk, Version version) { held.store(weights(chunk, version), 0); }

  PulledWeights held{2, {kPullPatience, kPullPatience, kPullPatience}};
};

}  // namespace

TEST_CASE("weights are complete when all chunks are at the target, whatever they were before") {
  PulledWeightsFixture at;
  at.store(0, 3);
  at.store(1, 2);
  CHECK_FALSE(at.held.is_complete());
  at.store(1, 3);
  CHECK(at.held.is_complete());
  at.store(0, 4);
  CHECK_FALSE(at.held.is_complete());
  at.held.aim(WeightsKey{4, {}});
  CHECK_FALSE(at.held.is_complete());
  at.store(1, 4);
  CHECK(at.held.is_complete());
  at.held.aim({});
  CHECK_FALSE(at.held.is_complete());
}

TEST_CASE("the newest weights of a version are not those that were asked for after another grant") {
  PulledWeights held(1, {kPullPatience, kPullPatience, kPullPatience});
  held.aim(WeightsKey{kNewestVersion, {1, 11}});
  held.store(weights(0, 5, {1, 11}), 0);
  CHECK(held.is_complete());
  held.aim(WeightsKey{kNewestVersion, {1, 12}});
  CHECK_FALSE(held.is_complete());
  CHECK(held.wants(0, {kNewestVersion, {1, 12}}));
  CHECK_FALSE(held.wants(0, {kNewestVersion, {1, 11}}));
}

TEST_CASE("averages are not the weights of their version, nor the other way round") {
  PulledWeights held(1, {kPullPatience, kPullPatience, kPullPatience});
  held.aim(WeightsKey{3, {}, true});
  held.store(weights(0, 3), 0);
  CHECK_FALSE(held.is_complete());
  CHECK(held.ask(0, 0) == Ask::first);
  CHECK(held.wants(0, {3, {}, true}));
  held.gone(0, {3, {}});  // of the weights
  CHECK(held.asked(0) == WeightsKey{3, {}, true});
  auto averages = weights(0, 3);
  averages.averages = true;
  held.store(averages, 0);
  CHECK(held.is_complete());
  held.aim(WeightsKey{3, {}});
  CHECK_FALSE(held.is_complete());
  CHECK(held.ask(0, 0) == Ask::first);
}

TEST_CASE("wanted is what brings a chunk to the target, or was asked for, and is not there") {
  PulledWeightsFixture at;
  CHECK(at.held.wants(0, {3, {}}));
  CHECK_FALSE(at.held.wants(0, {4, {}}));
  at.held.ask_along(0, {4, {}}, 1);
  CHECK(at.held.wants(0, {4, {}}));
  at.store(0, 3);
  CHECK_FALSE(at.held.wants(0, {3, {}}));
  at.store(0, 4);
  CHECK_FALSE(at.held.asked(0));
}

TEST_CASE("a chunk is asked for once, and again when its weights do not come") {
  PulledWeightsFixture at;
  CHECK(at.held.ask(0, 1'000) == Ask::first);
  CHECK(at.held.ask(0, 999 + kPullPatience) == Ask::no);
  CHECK(at.held.ask(0, 1'000 + kPullPatience) == Ask::again);
  CHECK(at.held.ask(0, 999 + 3 * kPullPatience) == Ask::no);  // with more patience
  CHECK(at.held.ask(0, 1'000 + 3 * kPullPatience) == Ask::again);
  at.store(0, 3);
  CHECK(at.held.ask(0, 9'000'000) == Ask::no);
  at.held.aim({});
  CHECK(at.held.ask(1, 9'000'000) == Ask::no);
}

TEST_CASE("weights that are to be had no more are asked for anew, and others are still on their way") {
  PulledWeightsFixture at;
  REQUIRE(at.held.ask(0, 1'000) == Ask::first);
  at.held.gone(0, {2, {}});
  CHECK(at.held.asked(0) == WeightsKey{3, {}});
  at.held.gone(0, {3, {}});
  CHECK(at.held.ask(0, 1'001) == Ask::first);
}

TEST_CASE("what is forgotten is neither held nor asked for, and what was staged of it is given up") {
  PulledWeightsFixture at;
  at.store(0, 3);
  at.store(1, 3);
  at.held.ask_along(0, {4, {}}, 1);
  at.held.stage(weights(0, 4), 7);
  at.held.stage(weights(1, 4), 8);
  CHECK(at.held.forget({true, false}) == std::vector<PayloadId>{7});
  CHECK_FALSE(at.held.is_complete());
  CHECK_FALSE(at.held.asked(0));
  at.store(0, 3);
  CHECK(at.held.is_complete());
  CHECK(at.held.forget_all() == std::vector<PayloadId>{8});
  CHECK(at.held.take_staged().empty());
  CHECK_FALSE(at.held.is_complete());
}

TEST_CASE("the marks name each life of each shard that weights came from, at the furthest") {
  PulledWeights held(3, {kPullPatience, kPullPatience, kPullPatience});
  held.store({1, 70, 0, 5, {1, 11}, 40}, 0);
  held.store({1, 70, 1, 5, {1, 11}, 42}, 0);
  held.store({1, 71, 2, 5, {1, 11}, 9}, 1);
  CHECK(*held.marks() == std::vector<JournalMark>{{0, 70, 42}, {1, 71, 9}});
}

TEST_CASE("a copy goes on by itself") {
  PulledWeightsFixture at;
  auto copy = at.held;
  copy.store(weights(0, 3), 0);
  copy.store(weights(1, 3), 0);
  CHECK(copy.is_complete());
  CHECK_FALSE(at.held.is_complete());
}
