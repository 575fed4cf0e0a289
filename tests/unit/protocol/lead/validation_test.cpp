#include "protocol/lead/validation.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

std::vector<EvaluationRecord> validations(const std::vector<double>& accuracies) {
  std::vector<EvaluationRecord> records;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    records.push_back({10 * (i + 1), Split::validation, 1, accuracies[i], 100});
    records.push_back({10 * (i + 1), Split::test, 1, 1.0, 100});  // tests decide nothing
  }
  return records;
}

}  // namespace

TEST_CASE("the best validation is the earlier one of equals") {
  CHECK(best_validation({}) == nullptr);
  const auto records = validations({0.5, 0.8, 0.7, 0.8});
  REQUIRE(best_validation(records) != nullptr);
  CHECK(best_validation(records)->step == 20);
}

TEST_CASE("evaluations are found by split and version") {
  const auto records = validations({0.5, 0.8});
  CHECK(find_evaluation(records, Split::validation, 15) == nullptr);
  REQUIRE(find_evaluation(records, Split::test, 20) != nullptr);
  CHECK(newest_evaluation(records, Split::validation)->step == 20);
}

TEST_CASE("training stops early after so many validations without improvement, in a row") {
  CHECK_FALSE(is_out_of_patience(validations({0.9, 0.1, 0.1, 0.1}), 0, 0));
  CHECK_FALSE(is_out_of_patience(validations({0.5, 0.4}), 2, 0));
  CHECK(is_out_of_patience(validations({0.5, 0.4, 0.5}), 2, 0));
  CHECK_FALSE(is_out_of_patience(validations({0.5, 0.4, 0.6, 0.5}), 2, 0));
}

TEST_CASE("small improvements do not count, but add up") {
  CHECK(is_out_of_patience(validations({0.50, 0.51, 0.52}), 2, 0.05));
  CHECK_FALSE(is_out_of_patience(validations({0.50, 0.53, 0.56}), 2, 0.05));
}
