#include "protocol/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ballast;

namespace {

std::optional<double> value_of(const std::vector<Metric>& metrics, MetricKind kind) {
  for (const auto& metric : metrics) {
    if (metric.kind == kind) {
      return metric.value;
    }
  }
  return std::nullopt;
}

MetricCounts counted_by(const MetricRules& rules) {
  return {std::vector<std::uint64_t>(rules.counts()), std::vector<double>(rules.sums())};
}

}  // namespace

TEST_CASE("metrics have names, by which they are found") {
  for (std::size_t i = 0; i < kMetricKinds; ++i) {
    const auto kind = static_cast<MetricKind>(i);
    CHECK(metric_named(name_of(kind)) == kind);
  }
  CHECK_FALSE(metric_named("top6"));
  CHECK_FALSE(metric_named(""));
}

TEST_CASE("a job without metrics counts nothing") {
  CHECK(MetricRules{}.counts() == 0);
  CHECK(MetricRules{}.sums() == 0);
  CHECK(metrics_of({}, {}).empty());
}

TEST_CASE("without an answer nothing is told") {
  const MetricRules rules{.top5 = true, .classes = 3, .scores = false, .likelihood = true, .errors = true};
  CHECK(metrics_of(rules, counted_by(rules)).empty());
}

TEST_CASE("what is told is what the rules say") {
  const MetricRules rules{.top5 = true, .classes = 2, .scores = true, .likelihood = true, .errors = false};
  auto counted = counted_by(rules);
  counted.counts = std::vector<std::uint64_t>(rules.counts(), 1);
  const auto metrics = metrics_of(rules, counted);
  for (std::size_t i = 2; i < kMetricKinds; ++i) {
    const auto kind = static_cast<MetricKind>(i);
    CAPTURE(name_of(kind));
    CHECK(value_of(metrics, kind).has_value() == rules.tell(kind));
  }
}

TEST_CASE("precision, recall and F1 are means over the classes that occur") {
  const MetricRules rules{.classes = 4};
  auto counted = counted_by(rules);
  // Class 0: 3 right of 4 answered and 6 labelled; class 1: nothing answered; class 2: no label; class 3: all right.
  counted.counts = {10, 0, 3, 4, 6, 0, 0, 2, 0, 4, 0, 2, 2, 2};
  const auto metrics = metrics_of(rules, counted);
  CHECK(*value_of(metrics, MetricKind::precision) == doctest::Approx((0.75 + 0 + 1) / 3));
  CHECK(*value_of(metrics, MetricKind::recall) == doctest::Approx((0.5 + 0 + 1) / 3));
  CHECK(*value_of(metrics, MetricKind::f1) == doctest::Approx((0.6 + 0 + 1) / 3));
}

TEST_CASE("counts that no worker can have made are known") {
  const MetricRules rules{.classes = 2, .scores = true, .likelihood = true};
  const auto good = [&] {
    auto counted = counted_by(rules);
    counted.counts[MetricCounts::kAnswers] = 4;
    for (std::size_t place = 0; place < 3; ++place) {
      counted.counts[MetricCounts::kClasses + place] = 3;
    }
    counted.counts.back() = 4;
    return counted;
  }();
  const auto can = [&](const auto& change) {
    auto counted = good;
    change(counted);
    return can_be(rules, 2, counted.counts, counted.sums);
  };
  CHECK(can([](MetricCounts&) {}));
  CHECK(can_be({}, 2, {}, {}));
  CHECK_FALSE(can([](MetricCounts& counted) { counted.counts.pop_back(); }));
  CHECK_FALSE(can([](MetricCounts& counted) { counted.sums.pop_back(); }));
  CHECK_FALSE(can([](MetricCounts& counted) { counted.counts[MetricCounts::kAmongFive] = 5; }));
  CHECK_FALSE(can([](MetricCounts& counted) { counted.counts[MetricCounts::kClasses] = 4; }));      // right
  CHECK_FALSE(can([](MetricCounts& counted) { counted.counts[MetricCounts::kClasses + 1] = 2; }));  // answered
  CHECK_FALSE(can([](MetricCounts& counted) { counted.counts[MetricCounts::kClasses + 2] = 2; }));  // labelled
  CHECK_FALSE(can([](MetricCounts& counted) { counted.counts[counted.counts.size() - 2] = 1; }));   // five scores
  CHECK_FALSE(can([](MetricCounts& counted) { counted.counts[MetricCounts::kAnswers] = std::uint64_t{3} << 32U; }));
}

TEST_CASE("bins of scores ascend with them, and are narrow near 0 and near 1") {
  std::uint32_t last = 0;
  for (double score = 1e-9; score < 1; score = score < 0.5 ? score * 1.01 : 1 - (1 - score) * 0.99) {
    const auto bin = score_bin(score);
    CHECK(bin >= last);
    CHECK(bin < kScoreBins);
    last = bin;
    if (score > 0.9999999) {
      break;
    }
  }
  CHECK(score_bin(0) == 0);
  CHECK(score_bin(1) == kScoreBins - 1);
  CHECK(score_bin(0.5) == kScoreBins / 2);
  CHECK(score_bin(0.4999999) == kScoreBins / 2 - 1);
  CHECK(score_bin(0.00102) > score_bin(0.00098));
  CHECK(score_bin(0.99902) > score_bin(0.99898));
  CHECK(score_bin(std::nan("")) < kScoreBins);
}

TEST_CASE("the area under the curve is the share of pairs in the right order, equals half") {
  const MetricRules rules{.scores = true};
  auto counted = counted_by(rules);
  const auto add = [&](double score, bool yes) {
    ++counted.counts[0];
    ++counted.counts[2 + 2 * std::size_t{score_bin(score)} + (yes ? 1 : 0)];
  };
  add(0.1, false);
  add(0.4, false);
  add(0.35, true);
  add(0.8, true);
  CHECK(*value_of(metrics_of(rules, counted), MetricKind::auc) == 0.75);
  add(0.4, true);
  CHECK(*value_of(metrics_of(rules, counted), MetricKind::auc) == doctest::Approx(4.5 / 6));
}

TEST_CASE("there is no area where there is only one kind of label") {
  const MetricRules rules{.scores = true};
  auto counted = counted_by(rules);
  counted.counts[0] = 3;
  counted.counts[2] = 3;
  CHECK_FALSE(value_of(metrics_of(rules, counted), MetricKind::auc));
}

TEST_CASE("perplexity and errors are made of means over answers") {
  const MetricRules rules{.likelihood = true, .errors = true};
  auto counted = counted_by(rules);
  counted.counts[0] = 4;
  counted.sums = {4 * std::log(7.0), 2, 3};
  const auto metrics = metrics_of(rules, counted);
  CHECK(*value_of(metrics, MetricKind::perplexity) == doctest::Approx(7));
  CHECK(*value_of(metrics, MetricKind::squared_error) == 0.5);
  CHECK(*value_of(metrics, MetricKind::absolute_error) == 0.75);
}
