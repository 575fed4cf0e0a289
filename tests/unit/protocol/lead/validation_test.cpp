#include "protocol/lead/validation.h"

#include <doctest/doctest.h>

#include <limits>

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
  CHECK(best_validation({}, MetricKind::accuracy) == nullptr);
  const auto records = validations({0.5, 0.8, 0.7, 0.8});
  REQUIRE(best_validation(records, MetricKind::accuracy) != nullptr);
  CHECK(best_validation(records, MetricKind::accuracy)->step == 20);
}

TEST_CASE("validations are compared by any metric, the smaller the better where it is a loss or an error") {
  auto records = validations({0.5, 0.8, 0.9});
  records[0].metrics = {{MetricKind::f1, 0.9}, {MetricKind::perplexity, 30}};
  records[2].metrics = {{MetricKind::f1, 0.2}, {MetricKind::perplexity, 10}};
  records[4].metrics = {{MetricKind::f1, 0.3}, {MetricKind::perplexity, 20}};
  records[1].metrics = {{MetricKind::perplexity, 1}};  // a test decides nothing
  records[0].loss = 0.5;
  CHECK(best_validation(records, MetricKind::f1)->step == 10);
  CHECK(best_validation(records, MetricKind::perplexity)->step == 20);
  CHECK(best_validation(records, MetricKind::loss)->step == 10);
  CHECK(best_validation(records, MetricKind::auc) == nullptr);
  CHECK(is_out_of_patience(records, MetricKind::f1, 2, 0));
  CHECK_FALSE(is_out_of_patience(records, MetricKind::perplexity, 2, 0));
  CHECK(is_out_of_patience(records, MetricKind::perplexity, 1, 0));
  CHECK(is_out_of_patience(records, MetricKind::perplexity, 2, 25));
}

TEST_CASE("a validation that is no number is never the best, and no improvement") {
  auto records = validations({0.5, 0.8, 0.9});
  records[0].loss = std::numeric_limits<double>::quiet_NaN();
  records[4].loss = std::numeric_limits<double>::quiet_NaN();
  CHECK(best_validation(records, MetricKind::loss)->step == 20);
  CHECK(is_out_of_patience(records, MetricKind::loss, 1, 0));
  CHECK_FALSE(is_out_of_patience(records, MetricKind::loss, 2, 0));
  CHECK(best_validation(records, MetricKind::accuracy)->step == 20);
}

TEST_CASE("evaluations are found by split and version") {
  const auto records = validations({0.5, 0.8});
  CHECK(find_evaluation(records, Split::validation, 15) == nullptr);
  REQUIRE(find_evaluation(records, Split::test, 20) != nullptr);
  CHECK(newest_evaluation(records, Split::validation)->step == 20);
}

TEST_CASE("training stops early after so many validations without improvement, in a row") {
  CHECK_FALSE(is_out_of_patience(validations({0.9, 0.1, 0.1, 0.1}), MetricKind::accuracy, 0, 0));
  CHECK_FALSE(is_out_of_patience(validations({0.5, 0.4}), MetricKind::accuracy, 2, 0));
  CHECK(is_out_of_patience(validations({0.5, 0.4, 0.5}), MetricKind::accuracy, 2, 0));
  CHECK_FALSE(is_out_of_patience(validations({0.5, 0.4, 0.6, 0.5}), MetricKind::accuracy, 2, 0));
}

TEST_CASE("small improvements do not count, but add up") {
  CHECK(is_out_of_patience(validations({0.50, 0.51, 0.52}), MetricKind::accuracy, 2, 0.05));
  CHECK_FALSE(is_out_of_patience(validations({0.50, 0.53, 0.56}), MetricKind::accuracy, 2, 0.05));
}
