#include "protocol/lead/step_planner.h"

#include <algorithm>
#include <utility>

namespace ballast {

bool contains(const std::vector<StepRange>& ranges, Step step) {
  return std::ranges::any_of(ranges, [&](StepRange range) { return range.contains(step); });
}

void StepPlanner::rewind(Step base) {
  decided_.clear();
  next_ = base;
  decisions_ = StepDecisions(rules_);
}

bool StepPlanner::decide(const std::vector<const ChunkMeasure*>& measures, const std::vector<StepRange>& skipped,
                         Step barrier) {
  const Step before = next_;
  for (; contains(skipped, next_) && next_ < barrier; ++next_) {
    decided_.emplace(next_, factors(next_ * updates_, skipped));
  }
  decisions_.open(next_);
  for (const auto* measure : measures) {
    decisions_.take(*measure);
  }
  if (decisions_.fault() == nullptr && decisions_.complete()) {
    auto decision = factors(next_ * updates_, skipped);
    decision.scales = decisions_.scales();
    gradient_norm_ = decisions_.norm();
    decided_.insert_or_assign(next_, std::move(decision));
    ++next_;
  }
  return next_ != before;
}

StepFactors StepPlanner::factors(Version version, const std::vector<StepRange>& skipped) const {
  const Step step = version / updates_;
  if (const auto known = decided_.find(step); known != decided_.end()) {
    return known->second;
  }
  std::uint64_t updates = version;
  for (const auto& range : skipped) {
    updates -= (std::min(range.until, step) - std::min(range.from, step)) * updates_;
  }
  auto factors = factors_(step, updates);
  factors.skip = contains(skipped, step);
  return factors;
}

// All steps before it are decided, so it is known which of them changed the weights.
std::optional<Prospect> StepPlanner::prospect(Step end, const std::vector<StepRange>& skipped) const {
  if (!rules_->of_updates || end != next_) {
    return std::nullopt;
  }
  return prospect_of(factors(end * updates_, skipped));
}

Step StepPlanner::known_until(Step barrier) const { return decides() ? std::min(barrier, next_) : barrier; }

}  // namespace ballast
