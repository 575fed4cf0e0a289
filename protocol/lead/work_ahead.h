// What one session has ahead of it in the open step, and when that will have left.
#pragma once

#include "protocol/ids.h"
#include "protocol/lead/open_step.h"
#include "protocol/lead/predicted_end.h"
#include "protocol/lead/slot_holder.h"

namespace ballast {

// The slots of its share that are missing and not begun. It gets on between its heartbeats, so moments count from when
// it was heard, or was given its share: as if it stood still since then, it would lose what it does meanwhile. Made for
// one question; then it costs a look at the session's ranges, and nothing is allocated. `typical`: of the others, for
// what is not known of the session.
class WorkAhead {
 public:
  WorkAhead(const SlotHolder& holder, const OpenStep& open, const StepSize& step, const SessionPace& typical);

  // When all has left, but for so many slots at the end of the last range.
  [[nodiscard]] Micros end(Slot without = 0) const;
  // The last slots of the last range, of which none is begun: most() of them at most.
  [[nodiscard]] Slot most() const { return last_.run.end - last_.next; }
  [[nodiscard]] SlotRange tail(Slot count) const { return {last_.run.end - count, last_.run.end}; }
  // When the first of them is begun.
  [[nodiscard]] Micros begin_of_tail(Slot count) const { return begin_ + slot_ * (most() - count); }

 private:
  // Slots of one range that are still to be computed, from `next` on, and their run: from the first one whose sums have
  // not left.
  struct Part {
    SlotRange run;
    Slot next = 0;
  };

  EndPrediction prediction_;
  Micros slot_;
  Micros begin_;        // of the last part's first slot
  Micros uplink_free_;  // from the parts before it
  Part last_;
};

// What a session that has nothing left would bring of what it is given now.
class MoreWork {
 public:
  MoreWork(const SlotHolder& taker, const OpenStep& open, const StepSize& step, const SessionPace& typical, Micros now);

  // When it can begin.
  [[nodiscard]] Micros begin() const { return begin_; }
  // When the range has left.
  [[nodiscard]] Micros end(SlotRange range) const { return prediction_.end(range, range.begin, begin_, uplink_free_); }
  // When one slot more has.
  [[nodiscard]] Micros end_of_one() const { return end({0, 1}); }

 private:
  EndPrediction prediction_;
  Micros begin_;
  Micros uplink_free_;
};

}  // namespace ballast
