// How long a session may take for its slots of a step in rounds before others get them too.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// A step that waited for late slots must not teach when slots are late: each deadline would contain the one before, and
// one straggler would make every wait longer. What half of the sessions need says it.
// Pure and copyable. Not thread-safe.
class StepTime {
 public:
  explicit StepTime(LearntDeadline::Bounds bounds) : deadline_(bounds) {}

  // A step is open since now. `handed_out`: slots given out beside the standing ranges, so far.
  void begin(Micros now, std::uint64_t handed_out) {
    open_since_ = now;
    half_.reset();
    handed_out_before_ = handed_out;
  }
  // Whether it is to be told when half of the sessions have delivered theirs.
  [[nodiscard]] bool wants_half(std::uint64_t handed_out) const { return !half_ && handed_out == handed_out_before_; }
  void half_delivered(Micros now) { half_ = now - open_since_; }
  // So many steps were open since begin() and are no more.
  void end(Step steps, Micros now, std::uint64_t handed_out) {
    if (half_) {
      deadline_.observe(*half_);
    } else if (handed_out == handed_out_before_) {
      deadline_.observe((now - open_since_) / steps);
    }
  }
  [[nodiscard]] Micros deadline() const { return deadline_.deadline(); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(deadline_), listed::ages(open_since_), listed::plain(half_, handed_out_before_));
  }

 private:
  LearntDeadline deadline_;
  Micros open_since_ = 0;
  std::optional<Micros> half_;  // from then until half of the sessions had delivered theirs
  std::uint64_t handed_out_before_ = 0;
};

}  // namespace ballast
