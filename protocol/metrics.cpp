#include "protocol/metrics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

namespace ballast {

namespace {

constexpr std::uint32_t kHalf = kScoreBins / 2;
constexpr std::uint32_t kBinsPerOctave = 32;
constexpr unsigned kDroppedBits = 23 - 5;  // of a float's mantissa: 32 bins are 5 bits

// Of a distance of at most 0.5 from an end, ascending: below kHalf.
std::uint32_t distance_bin(double distance) {
  constexpr std::uint32_t kFirst = (127U - 17U) * kBinsPerOctave;  // of 2^-17
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(distance)) >> kDroppedBits;
  return std::min(bits < kFirst ? 0 : bits - kFirst, kHalf - 1);
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void add_class_means(std::span<const std::uint64_t> classes, std::vector<Metric>& metrics) {
  ClassMetrics sum;
  double occur = 0;
  for (std::size_t at = 0; at + 2 < classes.size(); at += 3) {
    if (classes[at + 2] == 0) {
      continue;
    }
    const auto own = class_metrics(classes[at], classes[at + 1], classes[at + 2]);
    sum = {sum.precision + own.precision, sum.recall + own.recall, sum.f1 + own.f1};
    ++occur;
  }
  if (occur > 0) {
    metrics.push_back({MetricKind::precision, sum.precision / occur});
    metrics.push_back({MetricKind::recall, sum.recall / occur});
    metrics.push_back({MetricKind::f1, sum.f1 / occur});
  }
}

// The probability that a yes has a higher score than a no, equals counting half.
std::optional<double> area_under_curve(std::span<const std::uint64_t> bins) {
  double below = 0;  // scores of no in lower bins
  double all_yes = 0;
  double pairs = 0;
  for (std::size_t at = 0; at + 1 < bins.size(); at += 2) {
    const auto no = static_cast<double>(bins[at]);
    const auto yes = static_cast<double>(bins[at + 1]);
    pairs += yes * (below + no / 2);
    below += no;
    all_yes += yes;
  }
  return below > 0 && all_yes > 0 ? std::optional(pairs / (below * all_yes)) : std::nullopt;
}

}  // namespace

const char* name_of(MetricKind kind) {
  static constexpr std::array<const char*, kMetricKinds> kNames = {
      "loss", "accuracy", "top5", "precision", "recall", "f1", "auc", "perplexity", "squared_error", "absolute_error"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::optional<MetricKind> metric_named(std::string_view name) {
  for (std::size_t kind = 0; kind < kMetricKinds; ++kind) {
    if (name == name_of(static_cast<MetricKind>(kind))) {
      return static_cast<MetricKind>(kind);
    }
  }
  return std::nullopt;
}

bool is_larger_better(MetricKind kind) { return kind != MetricKind::loss && kind < MetricKind::perplexity; }

std::size_t MetricRules::counts() const {
  return *this == MetricRules{} ? 0 : 2 + std::size_t{3} * classes + (scores ? std::size_t{2} * kScoreBins : 0);
}

bool MetricRules::tell(MetricKind kind) const {
  switch (kind) {
    case MetricKind::loss:
      return true;
    case MetricKind::accuracy:
      return !errors;
    case MetricKind::top5:
      return top5;
    case MetricKind::precision:
    case MetricKind::recall:
    case MetricKind::f1:
      return classes > 0;
    case MetricKind::auc:
      return scores;
    case MetricKind::perplexity:
      return likelihood;
    case MetricKind::squared_error:
    case MetricKind::absolute_error:
      return errors;
  }
  return false;
}

std::optional<double> told_accuracy(double accuracy, const std::vector<Metric>& metrics) {
  const bool of_numbers = std::ranges::find(metrics, MetricKind::squared_error, &Metric::kind) != metrics.end();
  return of_numbers ? std::nullopt : std::optional(accuracy);
}

bool can_be(const MetricRules& rules, std::uint64_t examples, const std::vector<std::uint64_t>& counts,
            const std::vector<double>& sums) {
  if (counts.size() != rules.counts() || sums.size() != rules.sums()) {
    return false;
  }
  if (counts.empty()) {
    return true;
  }
  const auto answers = counts[MetricCounts::kAnswers];
  if (answers >> 32U > examples || std::ranges::any_of(counts, [&](std::uint64_t count) { return count > answers; })) {
    return false;
  }
  const auto classes = std::span(counts).subspan(MetricCounts::kClasses, std::size_t{3} * rules.classes);
  for (std::size_t at = 0; at < classes.size(); at += 3) {
    if (classes[at] > std::min(classes[at + 1], classes[at + 2])) {
      return false;
    }
  }
  const auto bins = std::span(counts).last(rules.scores ? std::size_t{2} * kScoreBins : 0);
  return std::accumulate(bins.begin(), bins.end(), std::uint64_t{0}) <= answers;
}

std::uint32_t score_bin(double score) {
  return score < 0.5 ? distance_bin(score) : kScoreBins - 1 - distance_bin(1 - score);
}

ClassMetrics class_metrics(std::uint64_t right, std::uint64_t answered, std::uint64_t labelled) {
  return {ratio(right, answered), ratio(right, labelled), ratio(2 * right, answered + labelled)};
}

std::vector<Metric> metrics_of(const MetricRules& rules, const MetricCounts& counted) {
  std::vector<Metric> metrics;
  const std::span counts(counted.counts);
  if (counts.empty() || counts[MetricCounts::kAnswers] == 0) {
    return metrics;
  }
  const auto answers = static_cast<double>(counts[MetricCounts::kAnswers]);
  const auto mean = [&](std::size_t place) { return counted.sums[place] / answers; };
  if (rules.top5) {
    metrics.push_back({MetricKind::top5, static_cast<double>(counts[MetricCounts::kAmongFive]) / answers});
  }
  add_class_means(counts.subspan(MetricCounts::kClasses, std::size_t{3} * rules.classes), metrics);
  if (rules.scores) {
    if (const auto area = area_under_curve(counts.last(std::size_t{2} * kScoreBins))) {
      metrics.push_back({MetricKind::auc, *area});
    }
  }
  if (rules.likelihood) {
    metrics.push_back({MetricKind::perplexity, std::exp(mean(MetricCounts::kLikelihood))});
  }
  if (rules.errors) {
    metrics.push_back({MetricKind::squared_error, mean(MetricCounts::kSquared)});
    metrics.push_back({MetricKind::absolute_error, mean(MetricCounts::kAbsolute)});
  }
  return metrics;
}

}  // namespace ballast
