// The decision on a step that needs to see all of its gradient: the factors by which it is clipped, or the trust ratios
// of its update, and whether it is finite.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

struct DecisionRules {
  NonFinite non_finite = NonFinite::halt;
  // By chunk id, the norm that each of its sums belongs to; empty: the job neither clips by norm nor has trust ratios.
  std::vector<std::vector<std::uint32_t>> norms;
  std::uint32_t norm_count = 0;
  // Of an update, from the sum of squares of each norm; pure.
  std::function<std::vector<float>(const std::vector<double>& sums)> scales;
  bool of_updates = false;   // sums are of weights and prospective updates, which lanes take by a plan's prospect
  bool of_gradients = true;  // all norms together are the gradient's
  std::uint32_t chunks = 0;  // of the whole job, statistics included

  // Whether a step has to wait for the lead.
  [[nodiscard]] bool decides() const { return !norms.empty() || non_finite != NonFinite::halt; }
};

// Collects the measures of one step, whoever reports them, and combines them in the order of chunks, so that the
// result does not depend on the order of arrival.
class StepDecisions {
 public:
  explicit StepDecisions(std::shared_ptr<const DecisionRules> rules) : rules_(std::move(rules)) {}

  // Forgets what is known of other steps.
  void open(Step step);
  // Of the open step; others are ignored, as is a measure that does not fit the rules.
  void take(const ChunkMeasure& measure);

  [[nodiscard]] Step step() const { return step_; }
  [[nodiscard]] bool complete() const;
  // The measure, first in the order of chunks, of a gradient that is not finite; null if there is none so far.
  [[nodiscard]] const ChunkMeasure* fault() const;
  // Only when complete. Empty unless the job clips by norm or has trust ratios.
  [[nodiscard]] std::vector<float> scales() const;
  // Of the gradient. Only when complete; 0 unless the job clips by norm.
  [[nodiscard]] double norm() const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::fixed(rules_), listed::plain(step_, measures_));
  }

 private:
  [[nodiscard]] std::vector<double> sums() const;

  std::shared_ptr<const DecisionRules> rules_;
  Step step_ = 0;
  std::map<ChunkId, ChunkMeasure> measures_;
};

}  // namespace ballast
