#include "protocol/lead/step_planner.h"

#include <doctest/doctest.h>

#include <memory>

using namespace ballast;

namespace {

DecisionRules clipping_rules() {
  DecisionRules rules;
  rules.norms = {{0}, {0}};
  rules.norm_count = 1;
  rules.scales = [](const std::vector<double>& sums) { return std::vector<float>(sums.begin(), sums.end()); };
  rules.chunks = 2;
  return rules;
}

// The learning rate says which step it is, the step's size how many updates were before.
StepFactors factors_at(Step step, std::uint64_t updates) {
  StepFactors factors;
  factors.learning_rate = static_cast<float>(step);
  factors.step_size = static_cast<float>(updates);
  return factors;
}

struct Planned {
  explicit Planned(const DecisionRules& rules = clipping_rules(), Step base = 0)
      : planner(std::make_shared<const DecisionRules>(rules), factors_at, 1, base) {}

  bool decide(const std::vector<ChunkMeasure>& measures, Step barrier = 100) {
    std::vector<const ChunkMeasure*> all;
    for (const auto& measure : measures) {
      all.push_back(&measure);
    }
    return planner.decide(all, skipped, barrier);
  }
  [[nodiscard]] Step known() const { return planner.known_until(100); }

  StepPlanner planner;
  std::vector<StepRange> skipped;
};

ChunkMeasure measured(ChunkId chunk, Step step, double sum, bool finite = true) {
  return {chunk, step, {sum}, finite, 0, kNoSlot};
}

}  // namespace

TEST_CASE("a step is decided when all of its gradient is measured, whoever brings which part when") {
  Planned at;
  CHECK(at.known() == 0);
  CHECK_FALSE(at.decide({measured(0, 0, 4)}));
  CHECK_FALSE(at.decide({measured(1, 1, 9)}));  // of the next step
  CHECK(at.decide({measured(1, 0, 12)}));
  CHECK(at.known() == 1);
  CHECK(at.planner.known_until(0) == 0);  // nothing beyond the barrier
  CHECK(at.planner.factors(0, {}).scales == std::vector<float>{16});
  CHECK(at.planner.gradient_norm() == 4);
  CHECK(at.planner.factors(1, {}).scales.empty());
}

TEST_CASE("where nothing has to wait, all factors are known") {
  Planned at{DecisionRules{}};
  CHECK_FALSE(at.planner.decides());
  CHECK(at.known() == 100);
}

TEST_CASE("a step that is left out counts for no update, and needs no gradient") {
  Planned at;
  at.skipped = {{0, 2}, {4, 5}};
  CHECK(at.decide({}));
  CHECK(at.known() == 2);
  CHECK(at.planner.factors(1, at.skipped).skip);
  CHECK_FALSE(at.planner.factors(2, at.skipped).skip);
  CHECK(at.planner.factors(2, at.skipped).step_size == 0);
  CHECK(at.planner.factors(4, at.skipped).step_size == 2);
  CHECK(at.planner.factors(9, at.skipped).step_size == 6);
  at.skipped = {{0, 100}};
  CHECK(at.decide({}, 50));
  CHECK(at.known() == 50);  // of no step beyond the barrier
}

TEST_CASE("a gradient that is not finite is a fault of its step, which stays undecided") {
  Planned at;
  CHECK_FALSE(at.decide({measured(0, 0, 1), measured(1, 0, 1, false)}));
  REQUIRE(at.planner.fault() != nullptr);
  CHECK(at.planner.fault()->chunk == 1);
  CHECK(at.known() == 0);
  at.skipped = {{0, 1}};
  CHECK(at.decide({}));
  CHECK(at.planner.fault() == nullptr);
}

TEST_CASE("the prospect is of the first undecided step, and counts those that were left out before it") {
  auto rules = clipping_rules();
  CHECK_FALSE(Planned(rules).planner.prospect(0, {}));
  rules.of_updates = true;
  Planned at(rules, 1);
  at.skipped = {{0, 1}, {2, 3}};
  CHECK(at.planner.prospect(1, at.skipped) == Prospect{0, 1});
  CHECK_FALSE(at.planner.prospect(2, at.skipped));  // not decided
  REQUIRE(at.decide({measured(0, 1, 1), measured(1, 1, 1)}));
  CHECK_FALSE(at.planner.prospect(1, at.skipped));  // a plan that ends there has more to come
  CHECK(at.decide({}));
  CHECK(at.planner.prospect(3, at.skipped) == Prospect{1, 1});
}

TEST_CASE("what was decided is forgotten before the oldest open step") {
  Planned at;
  REQUIRE(at.decide({measured(0, 0, 1), measured(1, 0, 1)}));
  REQUIRE(at.decide({measured(0, 1, 1), measured(1, 1, 1)}));
  at.planner.forget_before(1);
  CHECK(at.planner.factors(0, {}).scales.empty());
  CHECK_FALSE(at.planner.factors(1, {}).scales.empty());
  CHECK(at.known() == 2);
}

TEST_CASE("a job that is taken back decides anew, and a copy of a planner goes its own way") {
  Planned at;
  REQUIRE(at.decide({measured(0, 0, 1), measured(1, 0, 1)}));
  auto copy = at;
  at.planner.rewind(0);
  CHECK(at.known() == 0);
  CHECK(at.planner.factors(0, {}).scales.empty());
  CHECK(copy.known() == 1);
  CHECK_FALSE(at.decide({measured(0, 0, 8)}));
  CHECK(at.decide({measured(1, 0, 8)}));
  CHECK(at.planner.factors(0, {}).scales == std::vector<float>{16});
  CHECK(copy.planner.factors(0, {}).scales == std::vector<float>{2});
}
