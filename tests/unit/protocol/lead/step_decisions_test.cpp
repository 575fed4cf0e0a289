#include "protocol/lead/step_decisions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace ballast;

namespace {

// Two norms over three chunks: the middle one has a piece of each. The last chunk is the statistics.
DecisionRules rules() {
  DecisionRules rules;
  rules.norms = {{0}, {0, 1}, {1}, {}};
  rules.norm_count = 2;
  rules.scales = [](const std::vector<double>& sums) { return std::vector<float>(sums.begin(), sums.end()); };
  rules.chunks = 4;
  return rules;
}

std::vector<ChunkMeasure> measures(Step step) {
  return {{0, step, {1}, true, 0, kNoSlot},
          {1, step, {2, 4}, true, 0, kNoSlot},
          {2, step, {8}, true, 0, kNoSlot},
          {3, step, {}, true, 0, kNoSlot}};
}

}  // namespace

TEST_CASE("scales come from all chunks' sums, each piece counted once to its norm") {
  const auto all = rules();
  auto found = measures(5);
  std::sort(found.begin(), found.end(), [](const auto& left, const auto& right) { return left.chunk < right.chunk; });
  do {
    StepDecisions decisions(std::make_shared<const DecisionRules>(all));
    decisions.open(5);
    for (const auto& measure : found) {
      CHECK_FALSE(decisions.complete());
      decisions.take(measure);
      decisions.take(measure);
    }
    REQUIRE(decisions.complete());
    CHECK(decisions.scales() == std::vector<float>{3, 12});
    CHECK(decisions.norm() == std::sqrt(15.0));
    CHECK(decisions.fault() == nullptr);
  } while (std::next_permutation(found.begin(), found.end(),
                                 [](const auto& left, const auto& right) { return left.chunk < right.chunk; }));
}

TEST_CASE("scales are made of all sums together, which need not be the gradient's") {
  auto all = rules();
  all.of_gradients = false;
  all.scales = [](const std::vector<double>& sums) {
    return std::vector<float>{static_cast<float>(sums[0] / sums[1]), 1};
  };
  StepDecisions decisions(std::make_shared<const DecisionRules>(all));
  decisions.open(5);
  for (const auto& measure : measures(5)) {
    decisions.take(measure);
  }
  REQUIRE(decisions.complete());
  CHECK(decisions.scales() == std::vector<float>{0.25F, 1});
  CHECK(decisions.norm() == 0);
}

TEST_CASE("sums are added in the order of chunks, whatever the order of arrival") {
  DecisionRules one;
  one.norms = {{0}, {0}, {0}};
  one.norm_count = 1;
  one.scales = [](const std::vector<double>& sums) { return std::vector<float>(sums.begin(), sums.end()); };
  one.chunks = 3;
  const double big = 0x1p53;
  for (const auto& order : {std::vector<ChunkId>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    StepDecisions decisions(std::make_shared<const DecisionRules>(one));
    decisions.open(0);
    for (const auto chunk : order) {
      decisions.take({chunk, 0, {chunk == 0 ? big : 1.0}, true, 0, kNoSlot});
    }
    CHECK(decisions.norm() == std::sqrt((big + 1.0) + 1.0));
  }
}

TEST_CASE("measures of other steps, of no chunk of the job, or with other pieces are not taken") {
  const auto all = rules();
  StepDecisions decisions(std::make_shared<const DecisionRules>(all));
  decisions.open(5);
  for (auto measure : measures(4)) {
    decisions.take(measure);
  }
  decisions.take({9, 5, {1}, true, 0, kNoSlot});
  decisions.take({1, 5, {1}, true, 0, kNoSlot});
  for (auto measure : measures(5)) {
    if (measure.chunk != 1) {
      decisions.take(measure);
    }
  }
  CHECK_FALSE(decisions.complete());
  decisions.open(6);
  decisions.open(5);
  decisions.take(measures(5)[1]);
  CHECK_FALSE(decisions.complete());  // what was known of step 5 went
}

TEST_CASE("the fault of the first chunk that has one is told, before all chunks are known") {
  const auto all = rules();
  StepDecisions decisions(std::make_shared<const DecisionRules>(all));
  decisions.open(0);
  decisions.take({2, 0, {1}, false, 7, 3});
  REQUIRE(decisions.fault() != nullptr);
  CHECK(decisions.fault()->chunk == 2);
  decisions.take({0, 0, {1}, false, 6, 1});
  CHECK(decisions.fault()->chunk == 0);
  CHECK(decisions.fault()->slot == 1);
}

TEST_CASE("a job decides if it clips by norm or does not halt at a gradient that is not finite") {
  CHECK_FALSE(DecisionRules{}.decides());
  CHECK(rules().decides());
  DecisionRules skip;
  skip.non_finite = NonFinite::skip;
  CHECK(skip.decides());
}
