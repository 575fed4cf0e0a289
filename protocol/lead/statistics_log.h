// The training loss, step by step: every step once, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

class StatisticsLog {
 public:
  // `examples_before`: of all steps before the first one of `known`, which are consecutive and end before `next`.
  StatisticsLog(std::deque<StepStatistics> known, Step next, std::uint64_t examples_before);

  // The step whose statistics come next; others are not taken.
  [[nodiscard]] Step next() const { return next_; }
  bool add(const StepStatistics& statistics);
  // Back to `step`: what is known of it and later ones goes.
  void trim(Step step);
  // Means over steps before this one will not be asked for.
  void forget_before(Step step);

  // The first step that is known, or would be.
  [[nodiscard]] Step first() const { return known_.empty() ? next_ : known_.front().step; }

  // The mean loss over the examples of steps [from, until), as far as they are known; 0 if there are none. Summed in
  // the order of steps.
  [[nodiscard]] double mean_loss(Step from, Step until) const;
  [[nodiscard]] std::uint64_t examples() const { return examples_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(known_, next_), listed::accounts(examples_));
  }

 private:
  std::deque<StepStatistics> known_;
  Step next_;
  std::uint64_t examples_;
};

}  // namespace ballast
