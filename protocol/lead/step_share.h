// What one session is to compute of the oldest open step.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// At first a session's standing range; then what it was given, and less what was taken from it. Pure and copyable.
class StepShare {
 public:
  // A step opens, or work is given out again. A session that was told of another share, and has not come to the step
  // (`has_begun`), would go by its standing range there, so it is still to be told.
  void begin(SlotRange standing, bool has_begun);
  // `instead`: nothing is left of what it had.
  void add(SlotRange range, bool instead);
  // Before all that it has.
  void add_first(SlotRange range);
  // What was added last is a copy for which nobody waits.
  void make_trial();
  // No slot was left for a trial: it waits for the next step.
  void pass_trial() { had_trial_ = true; }
  // Whether it had some of the range.
  bool withdraw(SlotRange range);
  void rewind();
  // It is named in orders, changed or not.
  void tell() { is_told_ = true; }
  void give(Micros now) { given_at_ = now; }
  void expect(Micros due, bool is_predicted);
  // The lead did not run for so long.
  void forgive(Micros slept) {
    given_at_ += slept;
    due_ += slept;
  }

  // In the order in which it is to be computed; disjoint.
  [[nodiscard]] const std::vector<SlotRange>& ranges() const { return ranges_; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(Slot slot) const {
    return std::ranges::any_of(ranges_, [&](SlotRange range) { return range.contains(slot); });
  }
  // By an order of its own: it is not the standing range, or the newest order may name another one.
  [[nodiscard]] bool is_told() const { return is_told_; }
  [[nodiscard]] bool is_trial() const { return is_trial_; }
  // In the open step.
  [[nodiscard]] bool had_trial() const { return had_trial_; }
  [[nodiscard]] Micros given_at() const { return given_at_; }
  // By three times what was predicted, if it was; else nothing was known of how long a slot takes.
  [[nodiscard]] Micros due() const { return due_; }
  [[nodiscard]] bool is_predicted() const { return is_predicted_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(ranges_, is_told_, is_trial_, had_trial_), listed::ages(given_at_, due_),
                       listed::plain(is_predicted_));
  }

 private:
  std::vector<SlotRange> ranges_;
  bool is_told_ = false;
  bool is_trial_ = false;
  bool had_trial_ = false;
  Micros given_at_ = 0;
  Micros due_ = 0;
  bool is_predicted_ = false;
};

}  // namespace ballast
