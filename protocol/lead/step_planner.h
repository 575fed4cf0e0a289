// Which factors each update is made with.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/step_decisions.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Factors are computed, or, where a step has to wait for all of its gradient, decided: one step after the other, each
// once. In item mode, where a step is several updates of a chunk, no step waits. Steps to be left out are given to each
// call: of them only durable ones may be told to anybody. Pure and copyable. Not thread-safe.
class StepPlanner {
 public:
  // Of a step, with the number of updates before it that changed the weights. Pure.
  using Factors = std::function<StepFactors(Step step, std::uint64_t updates)>;

  // `updates`: of a chunk, for one step.
  StepPlanner(std::shared_ptr<const DecisionRules> rules, Factors factors, std::uint64_t updates, Step base)
      : rules_(std::move(rules)), factors_(std::move(factors)), updates_(updates), decisions_(rules_), next_(base) {}

  // The job is taken back to the step: what was decided is forgotten.
  void rewind(Step base);
  // Nobody asks for a step before `open` again.
  void forget_before(Step open) { decided_.erase(decided_.begin(), decided_.lower_bound(open)); }

  // Decides on the next step, if its measures are all there, and passes over those that are left out, up to `barrier`.
  // Whether it came further. Costs as much as there are measures.
  bool decide(const std::vector<const ChunkMeasure*>& measures, const std::vector<StepRange>& skipped, Step barrier);
  // Whether measures of the step that is to be decided on next were taken by an earlier call: it needs new ones only.
  [[nodiscard]] bool is_collecting() const { return decisions_.step() == next_; }
  // Of the step that is to be decided on next: a gradient that is not finite; null if none is known.
  [[nodiscard]] const ChunkMeasure* fault() const { return decisions_.fault(); }

  // Of the update that turns `version` of a chunk into the next one.
  [[nodiscard]] StepFactors factors(Version version, const std::vector<StepRange>& skipped) const;
  // Steps before it have factors, up to `barrier`.
  [[nodiscard]] Step known_until(Step barrier) const;
  // Whether steps have to wait for a decision.
  [[nodiscard]] bool decides() const { return rules_->decides(); }
  // Of the plan that ends before `end`, where lanes measure by it and that step is the one to be decided on next.
  [[nodiscard]] std::optional<Prospect> prospect(Step end, const std::vector<StepRange>& skipped) const;
  // Of the newest decision; 0 if there was none.
  [[nodiscard]] double gradient_norm() const { return gradient_norm_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::fixed(rules_, factors_, updates_), listed::parts(decisions_),
                       listed::plain(decided_, next_), listed::accounts(gradient_norm_));
  }

 private:
  std::shared_ptr<const DecisionRules> rules_;
  Factors factors_;
  std::uint64_t updates_;
  StepDecisions decisions_;
  std::map<Step, StepFactors> decided_;  // as given out
  Step next_;                            // the first step without a decision; only where steps wait for one
  double gradient_norm_ = 0;
};

[[nodiscard]] bool contains(const std::vector<StepRange>& ranges, Step step);

}  // namespace ballast
