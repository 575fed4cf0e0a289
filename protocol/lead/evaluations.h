// What is evaluated when, what came of it, and what follows from that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/lead/evaluation.h"
#include "protocol/lead/work_times.h"
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
  std::uint32_t patience = 0;            // validations without improvement; 0: the job never stops early
  double min_delta = 0;                  // of what `best_by` names
  LearntDeadline::Bounds late{0, 0, 0};  // an item in hand; sooner it goes to nobody else for being late
  MetricRules metrics = {};              // what results count
  MetricKind best_by = MetricKind::accuracy;
  bool operator==(const EvaluationRules&) const = default;
};

// Evaluated is the model after so many steps: the validation split at each step that is due, the test split at each
// where there is no validation, and at the job's end where there is. One evaluation at a time.
//
// An evaluation ends with its last item, and nothing else goes on meanwhile. So an idle session copies an item whose
// holders are suspected or late, or would bring it later than itself by what is known of both. Who has not brought an
// item when another one has is taken to hang until it brings any: as long as there are others it gets only what
// somebody else has, too.
// Pure and copyable. Not thread-safe.
class Evaluations {
 public:
  // `before`: ascending by step.
  Evaluations(const EvaluationRules& rules, std::vector<EvaluationRecord> before)
      : rules_(rules), records_(std::move(before)), times_(rules.late) {}

  // The job is taken back to the step: of what was evaluated, and is, nothing after it counts.
  void rewind(Step base);

  // The first step after that one at which something is due; the job's last at most.
  [[nodiscard]] Step next_after(Step step) const;
  // What is to be evaluated next at the step; none if all that is due there is known.
  [[nodiscard]] std::optional<Split> due(Step step) const;
  // Whether the job ends at the step: it is the last one, or there was no improvement for too long.
  [[nodiscard]] bool ends_at(Step step) const;

  void begin(Split split, Step step);
  // To sessions that hold no item, in order; looked for once at a moment, and when there is room. Suspects get nothing.
  // With no item left that is free, costs as much as there are sessions and items held.
  void hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& suspects, Micros now);
  [[nodiscard]] std::optional<Evaluation> ordered_from(SessionId session) const { return board_.ordered_from(session); }
  // Who has another item to evaluate than when this was asked last, or none any more.
  std::set<SessionId> take_changed() {
    changed_.merge(board_.take_changed());
    return std::exchange(changed_, {});
  }
  // A result of the job's timeline, whenever it comes. It counts only if the session holds the item: whoever does not
  // was not asked, is one of those whose item has gone to another since, or a stranger.
  void put(SessionId session, const EvaluationResult& result, Micros now);
  void lose(SessionId session);
  // Who has not brought what another one has, nor anything since, and since when it has had that.
  [[nodiscard]] const std::map<SessionId, Micros>& overtaken() const { return overtaken_; }
  [[nodiscard]] bool done() const { return board_.done(); }
  // The evaluation is done: what it came to.
  EvaluationRecord end();

  // All so far, in the order in which they were made.
  [[nodiscard]] const std::vector<EvaluationRecord>& records() const { return records_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(rules_, records_), listed::parts(board_, times_), listed::ages(overtaken_),
                       listed::plain(missed_, step_, has_room_), listed::ages(looked_at_), listed::fixed(changed_));
  }

 private:
  [[nodiscard]] std::uint32_t examples(Split split) const;
  using Sessions = std::vector<SessionId>;
  // Those that hold no item and are no suspects: first those on whom the others count.
  [[nodiscard]] std::pair<Sessions, Sessions> idle(const Sessions& sessions, const std::set<SessionId>& suspects) const;
  void hold(SessionId session, Micros now);
  bool overtake_others(SessionId session, const EvaluationResult& result);
  void copy_items(const Sessions& idle, const Sessions& doubtful, const std::set<SessionId>& suspects, Micros now);
  // When the item is there; never: its holders are not counted on any more.
  [[nodiscard]] Micros arrival(const Sessions& holders, const std::set<SessionId>& suspects, Micros now) const;

  EvaluationRules rules_;
  std::vector<EvaluationRecord> records_;
  EvaluationBoard board_;
  WorkTimes times_;  // of items
  std::map<SessionId, Micros> overtaken_;
  std::map<SessionId, Evaluation> missed_;  // what each of these has not brought
  Step step_ = 0;                           // that is evaluated
  bool has_room_ = false;                   // somebody may hold no item any more, or an item may be free
  Micros looked_at_ = -1;                   // when items were handed out last
  std::set<SessionId> changed_;             // of boards that are over
};

}  // namespace ballast
