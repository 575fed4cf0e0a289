#include "protocol/lead/validation.h"

#include <algorithm>
#include <cmath>

namespace ballast {

const EvaluationRecord* find_evaluation(const std::vector<EvaluationRecord>& evaluations, Split split, Step step) {
  for (const auto& evaluation : evaluations) {
    if (evaluation.split == split && evaluation.step == step) {
      return &evaluation;
    }
  }
  return nullptr;
}

const EvaluationRecord* newest_evaluation(const std::vector<EvaluationRecord>& evaluations, Split split) {
  const EvaluationRecord* newest = nullptr;
  for (const auto& evaluation : evaluations) {
    if (evaluation.split == split && (newest == nullptr || evaluation.step > newest->step)) {
      newest = &evaluation;
    }
  }
  return newest;
}

std::optional<double> value_of(const EvaluationRecord& evaluation, MetricKind kind) {
  if (kind == MetricKind::loss) {
    return evaluation.loss;
  }
  if (kind == MetricKind::accuracy) {
    return evaluation.accuracy;
  }
  const auto found = std::ranges::find(evaluation.metrics, kind, &Metric::kind);
  return found == evaluation.metrics.end() ? std::nullopt : std::optional(found->value);
}

namespace {

// The larger the better, whatever the metric; none if there is none to compare.
std::optional<double> score_of(const EvaluationRecord& evaluation, MetricKind by) {
  const auto value = value_of(evaluation, by);
  // Where the loss is no number, answers are none either, though they are counted.
  if (evaluation.split != Split::validation || !value || std::isnan(*value) || std::isnan(evaluation.loss)) {
    return std::nullopt;
  }
  return is_larger_better(by) ? *value : -*value;
}

}  // namespace

const EvaluationRecord* best_validation(const std::vector<EvaluationRecord>& evaluations, MetricKind by) {
  const EvaluationRecord* best = nullptr;
  for (const auto& evaluation : evaluations) {
    const auto score = score_of(evaluation, by);
    if (score && (best == nullptr || *score > *score_of(*best, by))) {
      best = &evaluation;
    }
  }
  return best;
}

bool is_out_of_patience(const std::vector<EvaluationRecord>& evaluations, MetricKind by, std::uint32_t patience,
                        double min_delta) {
  std::optional<double> best;
  std::uint32_t without_improvement = 0;
  for (const auto& evaluation : evaluations) {
    if (evaluation.split != Split::validation) {
      continue;
    }
    const auto score = score_of(evaluation, by);
    if (score && (!best || *score > *best + min_delta)) {
      best = score;
      without_improvement = 0;
    } else {
      ++without_improvement;
    }
  }
  return patience > 0 && without_improvement >= patience;
}

}  // namespace ballast
