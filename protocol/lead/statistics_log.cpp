#include "protocol/lead/statistics_log.h"

#include <utility>

namespace ballast {

namespace {

std::uint64_t examples_of(const StepStatistics& statistics) { return static_cast<std::uint64_t>(statistics.examples); }

}  // namespace

StatisticsLog::StatisticsLog(std::deque<StepStatistics> known, Step next, std::uint64_t examples_before)
    : known_(std::move(known)), next_(next), examples_(examples_before) {
  for (const auto& statistics : known_) {
    examples_ += examples_of(statistics);
  }
}

bool StatisticsLog::add(const StepStatistics& statistics) {
  if (statistics.step != next_) {
    return false;
  }
  ++next_;
  examples_ += examples_of(statistics);
  known_.push_back(statistics);
  return true;
}

void StatisticsLog::trim(Step step) {
  while (!known_.empty() && known_.back().step >= step) {
    examples_ -= examples_of(known_.back());
    known_.pop_back();
  }
  next_ = step;
}

void StatisticsLog::forget_before(Step step) {
  while (!known_.empty() && known_.front().step < step) {
    known_.pop_front();
  }
}

double StatisticsLog::mean_loss(Step from, Step until) const {
  double loss = 0;
  double examples = 0;
  if (known_.empty()) {
    return 0;
  }
  const Step first = known_.front().step;
  for (Step step = from < first ? first : from; step < until && step - first < known_.size(); ++step) {
    const auto& statistics = known_[step - first];
    loss += static_cast<double>(statistics.loss) * static_cast<double>(statistics.examples);
    examples += static_cast<double>(statistics.examples);
  }
  return examples > 0 ? loss / examples : 0;
}

}  // namespace ballast
