#include "protocol/lead/step_decisions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ballast {

void StepDecisions::open(Step step) {
  if (step != step_) {
    measures_.clear();
    step_ = step;
  }
}

void StepDecisions::take(const ChunkMeasure& measure) {
  const bool fits = measure.chunk < rules_->chunks &&
                    (rules_->norms.empty() || measure.sums.size() == rules_->norms[measure.chunk].size());
  if (measure.step == step_ && fits) {
    measures_.emplace(measure.chunk, measure);
  }
}

bool StepDecisions::complete() const { return measures_.size() == rules_->chunks; }

const ChunkMeasure* StepDecisions::fault() const {
  const auto found =
      std::find_if(measures_.begin(), measures_.end(), [](const auto& entry) { return !entry.second.finite; });
  return found == measures_.end() ? nullptr : &found->second;
}

std::vector<double> StepDecisions::sums() const {
  std::vector<double> sums(rules_->norm_count, 0.0);
  if (rules_->norms.empty()) {
    return sums;
  }
  for (const auto& [chunk, measure] : measures_) {
    const auto& norms = rules_->norms[chunk];
    for (std::size_t piece = 0; piece < norms.size(); ++piece) {
      sums[norms[piece]] += measure.sums[piece];
    }
  }
  return sums;
}

std::vector<float> StepDecisions::scales() const {
  return rules_->norms.empty() ? std::vector<float>{} : rules_->scales(sums());
}

double StepDecisions::norm() const {
  const auto all = rules_->of_gradients ? sums() : std::vector<double>{};
  return std::sqrt(std::accumulate(all.begin(), all.end(), 0.0));
}

}  // namespace ballast
