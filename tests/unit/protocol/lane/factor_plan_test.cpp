#include "protocol/lane/factor_plan.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// With learning rates that count from `rate` on.
std::vector<StepFactors> factors(float rate, std::size_t count) {
  std::vector<StepFactors> factors(count);
  for (auto& of_one : factors) {
    of_one.learning_rate = rate++;
  }
  return factors;
}

float rate(const FactorPlan& plan, Version version) {
  const auto* found = plan.find(version);
  return found == nullptr ? -1 : found->learning_rate;
}

}  // namespace

TEST_CASE("a plan is extended by what follows on what is known") {
  FactorPlan plan;
  CHECK(plan.end() == 0);
  CHECK(plan.find(0) == nullptr);
  plan.extend(0, factors(0, 2), 0);
  plan.extend(2, factors(2, 2), 0);
  CHECK(plan.end() == 4);
  for (Version version = 0; version < 4; ++version) {
    CHECK(rate(plan, version) == static_cast<float>(version));
  }
  CHECK(plan.find(4) == nullptr);
}

TEST_CASE("factors that are known stay, whatever a later plan says") {
  FactorPlan plan;
  plan.extend(0, factors(0, 3), 0);
  plan.extend(1, factors(50, 4), 0);
  CHECK(plan.end() == 5);
  CHECK(rate(plan, 2) == 2);
  CHECK(rate(plan, 3) == 52);
  plan.extend(0, factors(90, 5), 0);
  CHECK(rate(plan, 4) == 53);
}

TEST_CASE("a plan that leaves a gap is of use only if no chunk is in it") {
  FactorPlan plan;
  plan.extend(0, factors(0, 2), 0);
  plan.extend(4, factors(4, 2), 2);
  CHECK(plan.end() == 2);
  plan.extend(4, factors(4, 2), 4);
  CHECK(plan.end() == 6);
  CHECK(plan.find(1) == nullptr);
  CHECK(rate(plan, 4) == 4);
}

TEST_CASE("what all chunks have passed is forgotten") {
  FactorPlan plan;
  plan.begin(7);
  plan.extend(7, factors(7, 3), 7);
  plan.passed(9);
  CHECK(plan.find(8) == nullptr);
  CHECK(rate(plan, 9) == 9);
  plan.passed(100);
  CHECK(plan.end() == 10);
  CHECK(plan.find(9) == nullptr);
  plan.extend(10, factors(10, 1), 10);
  CHECK(rate(plan, 10) == 10);
}

TEST_CASE("what is forgotten can be said anew, from the same version on") {
  FactorPlan plan;
  plan.extend(0, factors(0, 4), 0);
  plan.clear();
  CHECK(plan.end() == 0);
  plan.begin(2);
  CHECK(plan.end() == 2);
  plan.extend(2, factors(60, 1), 2);
  CHECK(rate(plan, 2) == 60);
}

TEST_CASE("the newest plan says where all stop, whatever factors are known") {
  FactorPlan plan;
  plan.extend(0, factors(0, 4), 0);
  plan.follow({1, 1}, 2);
  CHECK(plan.end() == 2);
  CHECK(plan.find(2) == nullptr);
  plan.extend(4, factors(4, 2), 0);  // what is known grows all the same
  plan.follow({1, 2}, 9);
  CHECK(plan.number() == LeadNumber{1, 2});
  CHECK(plan.end() == 6);
  plan.begin(3);
  CHECK(plan.number() == kNoLeadNumber);
  CHECK(plan.until() > 9);
}

TEST_CASE("a prospect is of the first version that is not known, and gives way to its factors") {
  FactorPlan plan;
  plan.begin(3);
  plan.foresee(4, Prospect{7, 1});
  CHECK_FALSE(plan.prospect(3));
  CHECK_FALSE(plan.prospect(4));
  plan.foresee(3, Prospect{5, 0.5F});
  CHECK(plan.prospect(3) == Prospect{5, 0.5F});
  CHECK_FALSE(plan.prospect(4));
  plan.foresee(3, std::nullopt);  // of a plan that says nothing
  plan.extend(3, {}, 3);
  CHECK(plan.prospect(3) == Prospect{5, 0.5F});
  StepFactors known;
  known.step_size = 6;
  plan.extend(3, {known}, 3);
  CHECK(plan.prospect(3) == Prospect{6, 1});
  CHECK_FALSE(plan.prospect(4));
  plan.foresee(4, Prospect{8, 1});
  plan.follow({1, 1}, 2);  // where all stop is another matter
  CHECK(plan.prospect(4) == Prospect{8, 1});
  plan.clear();
  plan.begin(4);
  CHECK_FALSE(plan.prospect(4));
}
