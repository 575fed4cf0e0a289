#include "protocol/lead/evaluations.h"

#include <algorithm>
#include <utility>

#include "protocol/lead/validation.h"

namespace ballast {

void Evaluations::rewind(Step base) {
  std::erase_if(records_, [&](const EvaluationRecord& record) { return record.step > base; });
  board_ = {};
}

std::uint32_t Evaluations::examples(Split split) const {
  return split == Split::test ? rules_.test_examples : rules_.validation_examples;
}

Step Evaluations::next_after(Step step) const {
  const bool evaluates = rules_.validation_examples > 0 || rules_.test_examples > 0;
  return evaluates ? std::min(rules_.steps, (step / rules_.every + 1) * rules_.every) : rules_.steps;
}

bool Evaluations::ends_at(Step step) const {
  return step == rules_.steps || is_out_of_patience(records_, rules_.best_by, rules_.patience, rules_.min_delta);
}

std::optional<Split> Evaluations::due(Step step) const {
  // The job may wait at other versions too, for a snapshot's sake.
  if (step != rules_.steps && step % rules_.every != 0) {
    return std::nullopt;
  }
  const auto is_open = [&](Split split) {
    return examples(split) > 0 && find_evaluation(records_, split, step) == nullptr;
  };
  if (is_open(Split::validation)) {
    return Split::validation;
  }
  const bool wants_test = rules_.validation_examples == 0 || ends_at(step);
  return wants_test && is_open(Split::test) ? std::optional(Split::test) : std::nullopt;
}

void Evaluations::begin(Split split, Step step) {
  step_ = step;
  board_ = EvaluationBoard(split, step, examples(split), rules_.examples_per_item, rules_.metrics);
  has_room_ = true;
}

void Evaluations::hand_out(const std::vector<SessionId>& sessions, Micros now) {
  if (!std::exchange(has_room_, false) && looked_at_ == now) {
    return;
  }
  looked_at_ = now;
  for (auto session = sessions.begin(); session != sessions.end() && board_.has_some(now, rules_.late); ++session) {
    if (!board_.ordered_from(*session)) {
      board_.take(*session, now, rules_.late);
    }
  }
}

EvaluationRecord Evaluations::end() {
  auto total = board_.total();
  records_.push_back({step_, board_.split(), total.loss, total.accuracy, total.examples, std::move(total.metrics)});
  changed_.merge(board_.take_changed());
  board_ = {};
  return records_.back();
}

}  // namespace ballast
