#include "common/telling/quality.h"

#include <doctest/doctest.h>

#include <limits>

namespace ballast {
namespace {

const std::vector<Metric> kOfClasses = {{MetricKind::top5, 0.9997}, {MetricKind::f1, 0.98874}};
const std::vector<Metric> kOfNumbers = {{MetricKind::squared_error, 0.25}, {MetricKind::absolute_error, 0.375}};
const SplitStatus kSplit{true, 40, 0.03751, 0.9888};

TEST_CASE("an evaluation is told with its metrics, shares in percent") {
  CHECK(quality_text(0.03751, 0.9888, kOfClasses) == "accuracy 98.88 %, loss 0.0375, top5 99.97 %, f1 0.9887");
  CHECK(quality_text(0.03751, 0.9888, {}) == "accuracy 98.88 %, loss 0.0375");
  CHECK(metrics_text({}).empty());
}

TEST_CASE("where numbers are predicted there is no accuracy, and nobody tells one") {
  CHECK(quality_text(0.25, 0, kOfNumbers) == "loss 0.2500, squared_error 0.2500, absolute_error 0.3750");
  CHECK(headline(kSplit, kOfNumbers) == "loss 0.0375");
  CHECK(split_json(kSplit, kOfNumbers)["accuracy"].is_null());
}

TEST_CASE("in short an evaluation is its accuracy, with the perplexity where there is one") {
  CHECK(headline(kSplit, kOfClasses) == "accuracy 98.88 %");
  CHECK(headline(kSplit, {{MetricKind::perplexity, 12.25}}) == "accuracy 98.88 %, perplexity 12.2500");
}

TEST_CASE("the best is told by what it is the best in, where that is known") {
  const std::string all = "validation accuracy 98.88 %, loss 0.0375, top5 99.97 %, f1 0.9887";
  CHECK(best_text(kSplit, kOfClasses, MetricKind::accuracy) == "best by accuracy: 98.88 %, at step 40 (" + all + ")");
  CHECK(best_text(kSplit, kOfClasses, MetricKind::f1) == "best by f1: 0.9887, at step 40 (" + all + ")");
  CHECK(best_text(kSplit, kOfClasses, MetricKind::loss) == "best by loss: 0.0375, at step 40 (" + all + ")");
  CHECK(best_text(kSplit, kOfClasses, std::nullopt) == "best " + all + ", at step 40");
  CHECK(best_text(kSplit, kOfClasses, MetricKind::auc) == "best " + all + ", at step 40");  // that nobody has told
}

TEST_CASE("for programs metrics stand by name, and what is not finite is null") {
  const auto json =
      split_json(kSplit, {{MetricKind::f1, 0.5}, {MetricKind::perplexity, std::numeric_limits<double>::infinity()}});
  CHECK(json["step"] == 40);
  CHECK(json["accuracy"] == 0.9888);
  CHECK(json["metrics"]["f1"] == 0.5);
  CHECK(json["metrics"]["perplexity"].is_null());
  CHECK(split_json({}, {}).is_null());
  CHECK(metrics_json({}).dump() == "{}");
}

}  // namespace
}  // namespace ballast
