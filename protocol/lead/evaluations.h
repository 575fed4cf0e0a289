// What is evaluated when, what came of it, and what follows from that.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/lead/evaluation.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

struct EvaluationRules {
  Step steps = 1;                         // of the whole job
  Step every = 1;                         // steps; at the job's end as well
  std::uint32_t validation_examples = 0;  // 0: no validation
  std::uint32_t test_examples = 0;        // 0: no test
  std::uint32_t examples_per_item = 500;
  std::uint32_t patience = 0;  // validations without improvement; 0: the job never stops early
  double min_delta = 0;        // of what `best_by` names
  Micros late = 0;             // an item that a session has for so long goes to another one as well
  MetricRules metrics = {};    // what results count
  MetricKind best_by = MetricKind::accuracy;
  bool operator==(const EvaluationRules&) const = default;
};

// Evaluated is the model after so many steps: the validation split at each step that is due, the test split at each
// where there is no validation, and at the job's end where there is. One evaluation at a time.
// Pure and copyable. Not thread-safe.
class Evaluations {
 public:
  // `before`: ascending by step.
  Evaluations(const EvaluationRules& rules, std::vector<EvaluationRecord> before)
      : rules_(rules), records_(std::move(before)) {}

  // The job is taken back to the step: of what was evaluated, and is, nothing after it counts.
  void rewind(Step base);

  // The first step after that one at which something is due; the job's last at most.
  [[nodiscard]] Step next_after(Step step) const;
  // What is to be evaluated next at the step; none if all that is due there is known.
  [[nodiscard]] std::optional<Split> due(Step step) const;
  // Whether the job ends at the step: it is the last one, or there was no improvement for too long.
  [[nodiscard]] bool ends_at(Step step) const;

  void begin(Split split, Step step);
  // To sessions that hold no item, in order; looked for once at a moment, and when there is room.
  void hand_out(const std::vector<SessionId>& sessions, Micros now);
  [[nodiscard]] std::optional<Evaluation> ordered_from(SessionId session) const { return board_.ordered_from(session); }
  // Who has another item to evaluate than when this was asked last, or none any more.
  std::set<SessionId> take_changed() {
    changed_.merge(board_.take_changed());
    return std::exchange(changed_, {});
  }
  void put(const EvaluationResult& result) { has_room_ = board_.put(result) || has_room_; }
  void lose(SessionId session) {
    board_.lose(session);
    has_room_ = true;
  }
  [[nodiscard]] bool done() const { return board_.done(); }
  // The evaluation is done: what it came to.
  EvaluationRecord end();

  // All so far, in the order in which they were made.
  [[nodiscard]] const std::vector<EvaluationRecord>& records() const { return records_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(rules_, records_), listed::parts(board_), listed::plain(step_, has_room_),
                       listed::ages(looked_at_), listed::fixed(changed_));
  }

 private:
  [[nodiscard]] std::uint32_t examples(Split split) const;

  EvaluationRules rules_;
  std::vector<EvaluationRecord> records_;
  EvaluationBoard board_;
  Step step_ = 0;                // that is evaluated
  bool has_room_ = false;        // somebody may hold no item any more, or an item may be free
  Micros looked_at_ = -1;        // when items were handed out last
  std::set<SessionId> changed_;  // of boards that are over
};

}  // namespace ballast
