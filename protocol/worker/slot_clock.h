// How long a session's slots take.
#pragma once

#include <algorithm>

#include "protocol/ids.h"
#include "protocol/recent_median.h"
#include "protocol/state_list.h"

namespace ballast {

// A slot goes on until the next one is begun, or the computation ends. Pure and copyable.
class SlotClock {
 public:
  // The first slot of a step, or a later one.
  void begins(Step step, Slot slot, Micros at) {
    ends(at);
    if (step_begun_ == 0 || step != step_) {
      step_ = step;
      step_begun_ = std::max<Micros>(at, 1);
    }
    in_hand_ = slot;
    begun_ = at;
  }
  void ends(Micros at) {
    if (in_hand_ != kNoSlot) {
      slots_.observe(std::max<Micros>(at - begun_, 1));
      in_hand_ = kNoSlot;
    }
  }
  // What is in hand, if anything is, counts for nothing; steps are numbered anew.
  void rewind() {
    in_hand_ = kNoSlot;
    step_begun_ = 0;
  }

  [[nodiscard]] Step step() const { return step_; }
  [[nodiscard]] Slot in_hand() const { return in_hand_; }
  [[nodiscard]] Micros in_hand_for(Micros at) const { return in_hand_ == kNoSlot ? 0 : at - begun_; }
  [[nodiscard]] Micros since_step_begun(Micros at) const { return step_begun_ == 0 ? 0 : at - step_begun_; }
  // The median of the last slots, at least 1; 0: none has ended.
  [[nodiscard]] Micros slot_time() const { return slots_.median(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(step_, in_hand_), listed::ages(begun_, step_begun_), listed::parts(slots_));
  }

 private:
  Step step_ = 0;
  Slot in_hand_ = kNoSlot;
  Micros begun_ = 0;
  Micros step_begun_ = 0;  // 0: none was
  RecentMedian<15> slots_;
};

}  // namespace ballast
