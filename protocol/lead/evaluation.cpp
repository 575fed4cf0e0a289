#include "protocol/lead/evaluation.h"

#include <algorithm>
#include <functional>

namespace ballast {

EvaluationBoard::EvaluationBoard(Split split, Version version, std::uint32_t examples, std::uint32_t examples_per_item,
                                 const MetricRules& metrics)
    : split_(split), version_(version), metrics_(metrics), counts_(metrics.counts()) {
  for (std::uint32_t begin = 0; begin < examples; begin += examples_per_item) {
    Item item;
    item.evaluation = {split, static_cast<std::uint32_t>(items_.size()), version, begin,
                       std::min(examples, begin + examples_per_item)};
    free_.insert(item.evaluation.item);
    items_.push_back(item);
  }
  open_ = items_.size();
}

std::optional<Evaluation> EvaluationBoard::take(SessionId session) {
  if (free_.empty()) {
    return std::nullopt;
  }
  const auto item = *free_.begin();
  hold(item, session);
  return items_[item].evaluation;
}

void EvaluationBoard::hold(std::uint32_t item, SessionId session) {
  free_.erase(item);
  held_[item].push_back(session);
  items_of_[session] = item;
  changed_.insert(session);
}

void EvaluationBoard::let_go(std::uint32_t item) {
  for (const auto session : holders(item)) {
    items_of_.erase(session);
    changed_.insert(session);
  }
  held_.erase(item);
}

std::vector<SessionId> EvaluationBoard::holders(std::uint32_t item) const {
  const auto held = held_.find(item);
  return held == held_.end() ? std::vector<SessionId>() : held->second;
}

std::optional<Evaluation> EvaluationBoard::ordered_from(SessionId session) const {
  const auto held = items_of_.find(session);
  return held == items_of_.end() ? std::nullopt : std::optional(items_[held->second].evaluation);
}

bool EvaluationBoard::put(const EvaluationResult& result) {
  if (result.split != split_ || result.version != version_ || result.item >= items_.size() ||
      items_[result.item].result) {
    return false;
  }
  auto& item = items_[result.item];
  if (result.examples != item.evaluation.end - item.evaluation.begin || result.correct > result.examples ||
      !can_be(metrics_, result.examples, result.counts, result.sums)) {
    return false;
  }
  item.result = result;
  std::ranges::transform(counts_, item.result->counts, counts_.begin(), std::plus{});
  item.result->counts = {};
  let_go(result.item);
  free_.erase(result.item);
  --open_;
  return true;
}

void EvaluationBoard::lose(SessionId session) {
  const auto held = items_of_.find(session);
  if (held == items_of_.end()) {
    return;
  }
  const auto item = held->second;
  items_of_.erase(held);
  changed_.insert(session);
  auto& holders = held_.at(item);
  std::erase(holders, session);
  if (holders.empty()) {
    held_.erase(item);
    free_.insert(item);
  }
}

EvaluationBoard::Total EvaluationBoard::total() const {
  double loss = 0;
  double correct = 0;
  double examples = 0;
  std::vector<double> sums(metrics_.sums());
  for (const auto& item : items_) {
    if (item.result) {
      loss += item.result->loss_sum;
      correct += static_cast<double>(item.result->correct);
      examples += static_cast<double>(item.result->examples);
      std::ranges::transform(sums, item.result->sums, sums.begin(), std::plus{});
    }
  }
  if (examples == 0) {
    return {};
  }
  return {loss / examples, correct / examples, static_cast<std::uint64_t>(examples),
          metrics_of(metrics_, {counts_, std::move(sums)})};
}

}  // namespace ballast
