#include "protocol/lead/evaluations.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "protocol/lead/validation.h"

namespace ballast {

namespace {

constexpr auto kNever = std::numeric_limits<Micros>::max();
constexpr Micros kWorthCopying = 20'000;  // sooner by less than that is by chance

bool is_of(const EvaluationResult& result, const Evaluation& evaluation) {
  return result.split == evaluation.split && result.item == evaluation.item && result.version == evaluation.version;
}

}  // namespace

void Evaluations::rewind(Step base) {
  std::erase_if(records_, [&](const EvaluationRecord& record) { return record.step > base; });
  board_ = {};
  times_.rest_all();
  overtaken_.clear();
  missed_.clear();
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

std::pair<Evaluations::Sessions, Evaluations::Sessions> Evaluations::idle(const Sessions& sessions,
                                                                          const std::set<SessionId>& suspects) const {
  std::pair<Sessions, Sessions> idle;
  bool has_others = false;
  for (const auto session : sessions) {
    if (suspects.contains(session)) {
      continue;
    }
    const bool is_doubtful = overtaken_.contains(session);
    has_others = has_others || !is_doubtful;
    if (!board_.ordered_from(session)) {
      (is_doubtful ? idle.second : idle.first).push_back(session);
    }
  }
  if (!has_others) {
    std::swap(idle.first, idle.second);
  }
  return idle;
}

void Evaluations::hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& suspects, Micros now) {
  if (!std::exchange(has_room_, false) && looked_at_ == now) {
    return;
  }
  looked_at_ = now;
  const auto [counted_on, doubtful] = idle(sessions, suspects);
  auto session = counted_on.begin();
  for (; session != counted_on.end() && board_.take(*session); ++session) {
    hold(*session, now);
  }
  if (!board_.has_free()) {
    copy_items({session, counted_on.end()}, doubtful, suspects, now);
  }
}

// Since when it has had what it has not brought yet stays known.
void Evaluations::hold(SessionId session, Micros now) {
  if (!overtaken_.contains(session)) {
    times_.begins(session, now);
  }
}

Micros Evaluations::arrival(const Sessions& holders, const std::set<SessionId>& suspects, Micros now) const {
  Micros first = kNever;
  for (const auto session : holders) {
    if (!suspects.contains(session) && !overtaken_.contains(session) && !times_.is_late(session, now)) {
      first = std::min(first, times_.since(session) + times_.expected(session).value_or(0));
    }
  }
  return first;
}

// The item that would come last first.
void Evaluations::copy_items(const Sessions& idle, const Sessions& doubtful, const std::set<SessionId>& suspects,
                             Micros now) {
  if (idle.empty() && doubtful.empty()) {
    return;
  }
  std::priority_queue<std::pair<Micros, std::uint32_t>> arrivals;
  for (const auto& [item, holders] : board_.held()) {
    arrivals.emplace(arrival(holders, suspects, now), item);
  }
  for (const auto session : idle) {
    if (arrivals.empty()) {
      return;
    }
    const auto own = now + times_.expected(session).value_or(0);
    const auto [arrival, item] = arrivals.top();
    if (arrival == kNever || (times_.expected(session) && arrival >= own + kWorthCopying)) {
      board_.copy(item, session);
      hold(session, now);
      arrivals.pop();
      arrivals.emplace(std::min(arrival, own), item);
    }
  }
  for (const auto session : doubtful) {
    if (!arrivals.empty()) {
      board_.copy(arrivals.top().second, session);
    }
  }
}

void Evaluations::put(SessionId session, const EvaluationResult& result, Micros now) {
  const auto held = board_.ordered_from(session);
  const bool counts = held && is_of(result, *held) && overtake_others(session, result);
  const auto missed = missed_.find(session);
  const bool is_back = missed != missed_.end() && (counts || is_of(result, missed->second));
  if (is_back) {
    overtaken_.erase(session);
    missed_.erase(missed);
  }
  if (is_back || counts) {
    times_.brings(session, now);
    if (board_.ordered_from(session)) {
      times_.begins(session, now);
    }
    has_room_ = true;
  }
  has_room_ = has_room_ || counts;
}

// Whether the result is one. The others who hold the item have not brought it.
bool Evaluations::overtake_others(SessionId session, const EvaluationResult& result) {
  const auto held = board_.ordered_from(session);
  const auto holders = board_.holders(result.item);
  if (!board_.put(result)) {
    return false;
  }
  for (const auto other : holders) {
    if (other != session) {
      overtaken_.emplace(other, times_.since(other));
      missed_.insert_or_assign(other, *held);
      times_.excuse(other);
    }
  }
  return true;
}

void Evaluations::lose(SessionId session) {
  board_.lose(session);
  times_.forget(session);
  overtaken_.erase(session);
  missed_.erase(session);
  has_room_ = true;
}

EvaluationRecord Evaluations::end() {
  auto total = board_.total();
  records_.push_back({step_, board_.split(), total.loss, total.accuracy, total.examples, std::move(total.metrics)});
  changed_.merge(board_.take_changed());
  board_ = {};
  return records_.back();
}

}  // namespace ballast
