#include "protocol/lead/slot_holder.h"

#include <algorithm>

namespace ballast {

bool SlotHolder::keeps_share() const {
  return !suspicion.is_suspect() && !suspicion.has_missed_too_much() && !seen.is_leaving();
}

void SlotHolder::erase_begun(const OpenStep& open, SlotSet& slots) const {
  if (const auto* computed = seen.computed(open.step); computed != nullptr) {
    slots.erase(*computed);
  }
  if (const auto slot = seen.in_hand(open.step); slot != kNoSlot) {
    slots.erase({slot, slot + 1});
  }
}

bool SlotHolder::has_begun(const OpenStep& open, Slot slot) const {
  const auto* computed = seen.computed(open.step);
  return slot == seen.in_hand(open.step) || (computed != nullptr && computed->contains(slot));
}

Slot SlotHolder::next_left(const OpenStep& open, SlotRange range) const {
  const auto* computed = seen.computed(open.step);
  const auto in_hand = seen.in_hand(open.step);
  const auto next = open.missing.first_of(range, computed);
  return next < range.end && next == in_hand ? open.missing.first_of({next + 1, range.end}, computed) : next;
}

bool SlotHolder::has_left(const OpenStep& open) const {
  return std::ranges::any_of(share.ranges(), [&](SlotRange range) { return next_left(open, range) < range.end; });
}

bool SlotHolder::is_awaited(const OpenStep& open) const {
  if (share.is_trial()) {
    return false;
  }
  const auto* computed = seen.computed(open.step);
  return open.missing.contains(seen.in_hand(open.step)) ||
         (computed != nullptr && open.missing.contains_some_of(*computed)) ||
         std::ranges::any_of(share.ranges(), [&](SlotRange range) { return open.missing.contains_some_of(range); });
}

}  // namespace ballast
