#include "protocol/lead/validation.h"

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

const EvaluationRecord* best_validation(const std::vector<EvaluationRecord>& evaluations) {
  const EvaluationRecord* best = nullptr;
  for (const auto& evaluation : evaluations) {
    if (evaluation.split == Split::validation && (best == nullptr || evaluation.accuracy > best->accuracy)) {
      best = &evaluation;
    }
  }
  return best;
}

bool is_out_of_patience(const std::vector<EvaluationRecord>& evaluations, std::uint32_t patience, double min_delta) {
  const EvaluationRecord* best = nullptr;
  std::uint32_t without_improvement = 0;
  for (const auto& evaluation : evaluations) {
    if (evaluation.split != Split::validation) {
      continue;
    }
    if (best == nullptr || evaluation.accuracy > best->accuracy + min_delta) {
      best = &evaluation;
      without_improvement = 0;
    } else {
      ++without_improvement;
    }
  }
  return patience > 0 && without_improvement >= patience;
}

}  // namespace ballast
