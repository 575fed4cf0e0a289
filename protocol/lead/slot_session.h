// What the lead has learnt of one session that computes slots: how fast it is, and where it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/ids.h"
#include "protocol/lead/predicted_end.h"
#include "protocol/lead/typical_pace.h"
#include "protocol/messages.h"
#include "protocol/recent_median.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// A session as its heartbeats show it. Moments are the lead's. Pure and copyable.
class SlotSession {
 public:
  explicit SlotSession(Slot slots) : slots_(slots), computed_(slots) {}

  // A heartbeat. `opened`: when the lead heard that the step `open`, the oldest one, is open; none: it has not, since
  // the timeline began. Whether the session has begun or ended a slot since the one before.
  bool heard(const SlotProgress& progress, Step open, std::optional<Micros> opened, Micros now);
  // A timeline begins: what it has done counts for nothing.
  void rewind();

  // Whether it was ever heard to compute a slot.
  [[nodiscard]] bool is_known() const { return known_.slot.has_value(); }
  [[nodiscard]] const KnownPace& known_pace() const { return known_; }
  // With what is `typical` of the others in place of what is not known.
  [[nodiscard]] SessionPace pace(const SessionPace& typical) const;
  // It has the weights of the step, or of a later one.
  [[nodiscard]] bool has_begun(Step step) const { return has_progress_ && progress_.step >= step; }
  // It has the weights of a later step, in which all slots of this one are.
  [[nodiscard]] bool has_passed(Step step) const { return has_progress_ && progress_.step > step; }
  // Slots of the step that it has computed.
  [[nodiscard]] const SlotSet* computed(Step step) const {
    return has_progress_ && progress_.step == step ? &computed_ : nullptr;
  }
  // The same, as few ranges as its heartbeat had.
  [[nodiscard]] std::span<const SlotRange> computed_ranges(Step step) const {
    return has_progress_ && progress_.step == step ? progress_.computed : std::span<const SlotRange>();
  }
  // It has none any more of something that it had computed of the step: it has given that up, for want of buffers.
  [[nodiscard]] bool has_given_up(Step step) const { return gave_up_ && progress_.step == step; }
  // The slot of the step that it computes, or none, and since when.
  [[nodiscard]] Slot in_hand(Step step) const {
    return has_progress_ && progress_.step == step ? progress_.in_hand : kNoSlot;
  }
  [[nodiscard]] Micros in_hand_since() const { return in_hand_since_; }
  // When all this was so: since then it may have got on.
  [[nodiscard]] Micros heard_at() const { return heard_at_; }
  // When all that it had to send is gone.
  [[nodiscard]] Micros uplink_free() const { return uplink_free_; }
  // How long the weights take to reach it, if it has none of the step.
  [[nodiscard]] Micros pull_time(const StepSize& step, const SessionPace& typical) const;
  [[nodiscard]] const SlotProgress& progress() const { return progress_; }
  // It begins no other slot.
  [[nodiscard]] bool is_leaving() const { return progress_.leaving; }
  // It leaves, and all that it has computed of the step has its receipts.
  [[nodiscard]] bool has_left_all(Step step) const {
    return is_leaving() && computed(step) != nullptr && in_hand(step) == kNoSlot && progress_.without_receipt == 0;
  }
  // The median of the last ones; 0: there was none.
  [[nodiscard]] Micros lag() const { return known_.lag.value_or(0); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_, has_progress_, progress_), listed::parts(computed_),
                       listed::plain(gave_up_), listed::parts(lag_), listed::plain(known_, lag_of_),
                       listed::ages(heard_at_, in_hand_since_, uplink_free_));
  }

 private:
  Slot slots_;
  bool has_progress_ = false;  // in this timeline
  SlotProgress progress_;      // the newest
  SlotSet computed_;           // as it says
  bool gave_up_ = false;       // some of it, in this step
  RecentMedian<15> lag_;
  KnownPace known_;
  Step lag_of_ = 0;  // the step after the newest of which the lag is known
  Micros heard_at_ = 0;
  Micros in_hand_since_ = 0;
  Micros uplink_free_ = 0;
};

}  // namespace ballast
