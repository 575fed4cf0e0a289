#include "protocol/lead/evaluation.h"

#include <algorithm>

namespace ballast {

EvaluationBoard::EvaluationBoard(Split split, Version version, std::uint32_t examples, std::uint32_t examples_per_item)
    : split_(split), version_(version) {
  for (std::uint32_t begin = 0; begin < examples; begin += examples_per_item) {
    Item item;
    item.evaluation = {split, static_cast<std::uint32_t>(items_.size()), version, begin,
                       std::min(examples, begin + examples_per_item)};
    items_.push_back(item);
  }
  open_ = items_.size();
}

std::optional<Evaluation> EvaluationBoard::take(SessionId session, Micros now, Micros late) {
  Item* chosen = nullptr;
  for (auto& item : items_) {
    if (item.result) {
      continue;
    }
    if (item.holder == 0) {
      chosen = &item;
      break;
    }
    if (now - item.given_at >= late && (chosen == nullptr || item.given_at < chosen->given_at)) {
      chosen = &item;
    }
  }
  if (chosen == nullptr) {
    return std::nullopt;
  }
  chosen->holder = session;
  chosen->given_at = now;
  return chosen->evaluation;
}

std::optional<Evaluation> EvaluationBoard::ordered_from(SessionId session) const {
  for (const auto& item : items_) {
    if (!item.result && item.holder == session) {
      return item.evaluation;
    }
  }
  return std::nullopt;
}

bool EvaluationBoard::put(const EvaluationResult& result) {
  if (result.split != split_ || result.version != version_ || result.item >= items_.size() ||
      items_[result.item].result) {
    return false;
  }
  auto& item = items_[result.item];
  if (result.examples != item.evaluation.end - item.evaluation.begin || result.correct > result.examples) {
    return false;
  }
  item.result = result;
  --open_;
  return true;
}

void EvaluationBoard::lose(SessionId session) {
  for (auto& item : items_) {
    if (item.holder == session) {
      item.holder = 0;
    }
  }
}

EvaluationBoard::Total EvaluationBoard::total() const {
  double loss = 0;
  double correct = 0;
  double examples = 0;
  for (const auto& item : items_) {
    if (item.result) {
      loss += item.result->loss_sum;
      correct += static_cast<double>(item.result->correct);
      examples += static_cast<double>(item.result->examples);
    }
  }
  return examples > 0 ? Total{loss / examples, correct / examples, static_cast<std::uint64_t>(examples)} : Total{};
}

}  // namespace ballast
