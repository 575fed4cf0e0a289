// How long a session's slots take.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "protocol/ids.h"
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
      seen_[count_ % seen_.size()] = at - begun_;
      ++count_;
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
  [[nodiscard]] Micros slot_time() const {
    auto values = seen_;
    const auto count = std::min(count_, values.size());
    if (count == 0) {
      return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
    return std::max<Micros>(*middle, 1);
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(step_, in_hand_), listed::ages(begun_, step_begun_), listed::plain(seen_, count_));
  }

 private:
  static constexpr std::size_t kWindow = 15;

  Step step_ = 0;
  Slot in_hand_ = kNoSlot;
  Micros begun_ = 0;
  Micros step_begun_ = 0;  // 0: none was
  std::array<Micros, kWindow> seen_{};
  std::size_t count_ = 0;
};

}  // namespace ballast
