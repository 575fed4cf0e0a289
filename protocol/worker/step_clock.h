// Where the steps of a worker go. Pure.
#pragma once

#include <algorithm>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Told each moment of a step in turn; moments never go back. A step is finished when nothing of it is without a
// receipt, or at the latest when the next one is computed; until then the phases are those of the one before.
class StepClock {
 public:
  // Weights are waited for from now on.
  void wants(Micros now) { wanted_at_ = now; }
  // They are all there, and computing begins.
  void begins(Micros now) {
    if (!outstanding_) {
      finish();
    }
    pull_ = now - std::min(now, std::max(wanted_at_, receipted_at_));
  }
  // `computing` has data_wait, forward and backward.
  void computed(Micros now, const PhaseTimes& computing, bool outstanding) {
    if (outstanding_) {
      newest_.push = now - computed_at_;
    }
    finish();
    newest_ = computing;
    newest_.pull = pull_;
    newest_.push = 0;
    computed_at_ = now;
    receipted_at_ = now;
    outstanding_ = outstanding;
    is_new_ = true;
  }
  // A receipt has arrived; `outstanding`: others of the newest step have not.
  void receipt(Micros now, bool outstanding) {
    if (!outstanding_) {
      return;
    }
    newest_.push = now - computed_at_;
    receipted_at_ = now;
    outstanding_ = outstanding;
    if (!outstanding_) {
      finish();
    }
  }

  // Of the last finished step, and how many there were.
  [[nodiscard]] const PhaseTimes& phases() const { return finished_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  // All of it: where time goes is told, and nobody acts on it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::accounts(wanted_at_, computed_at_, receipted_at_, pull_, outstanding_, is_new_, newest_,
                                        finished_, steps_));
  }

 private:
  void finish() {
    if (is_new_) {
      is_new_ = false;
      finished_ = newest_;
      ++steps_;
    }
  }

  Micros wanted_at_ = 0;
  Micros computed_at_ = 0;
  Micros receipted_at_ = 0;
  Micros pull_ = 0;
  bool outstanding_ = false;
  bool is_new_ = false;
  PhaseTimes newest_;
  PhaseTimes finished_;
  std::uint64_t steps_ = 0;
};

}  // namespace ballast
