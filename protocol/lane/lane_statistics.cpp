#include "protocol/lane/lane_statistics.h"

#include <algorithm>

namespace ballast {

void LaneStatistics::begin(Step first) {
  first_ = first;
  next_ = first;
  partial_.clear();
  whole_.clear();
}

void LaneStatistics::add(const StepStatistics& part) {
  auto& sum = partial_[part.step];
  sum.total.step = part.step;
  sum.total.loss += part.loss;
  sum.total.correct += part.correct;
  sum.total.examples += part.examples;
  ++sum.parts;
  for (auto next = partial_.find(next_); next != partial_.end() && next->second.parts == parts_;
       next = partial_.find(next_)) {
    whole_.push_back(next->second.total);
    partial_.erase(next);
    ++next_;
  }
}

void LaneStatistics::confirmed(Step end) {
  std::erase_if(whole_, [&](const StepStatistics& known) { return known.step < end; });
}

bool LaneStatistics::awaits(Step open) const {
  return owned_ && open > first_ && (whole_.empty() || whole_.back().step + 1 < open);
}

std::vector<StepStatistics> LaneStatistics::oldest(std::size_t most) const {
  return {whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(std::min(whole_.size(), most))};
}

}  // namespace ballast
