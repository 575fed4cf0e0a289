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

bool EvaluationBoard::has_some(Micros now, Micros late) const {
  return !free_.empty() || (!held_.empty() && now - held_.begin()->first >= late);
}

std::optional<Evaluation> EvaluationBoard::take(SessionId session, Micros now, Micros late) {
  if (!has_some(now, late)) {
    return std::nullopt;
  }
  const auto item = free_.empty() ? held_.begin()->second : *free_.begin();
  let_go(item);
  hold(item, session, now);
  return items_[item].evaluation;
}

void EvaluationBoard::hold(std::uint32_t item, SessionId session, Micros now) {
  items_[item].holder = session;
  items_[item].given_at = now;
  free_.erase(item);
  held_.emplace(now, item);
  holders_[session] = item;
  changed_.insert(session);
}

void EvaluationBoard::let_go(std::uint32_t item) {
  auto& known = items_[item];
  if (known.holder != 0) {
    held_.erase({known.given_at, item});
    holders_.erase(known.holder);
    changed_.insert(known.holder);
  }
  known.holder = 0;
}

std::optional<Evaluation> EvaluationBoard::ordered_from(SessionId session) const {
  const auto held = holders_.find(session);
  return held == holders_.end() ? std::nullopt : std::optional(items_[held->second].evaluation);
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
  if (const auto held = holders_.find(session); held != holders_.end()) {
    const auto item = held->second;
    let_go(item);
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
