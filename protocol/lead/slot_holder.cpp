#include "protocol/lead/slot_holder.h"

#include <algorithm>

namespace ballast {

bool SlotHolder::keeps_share() const { return !suspicion.is_suspect() && suspicion.has_credit() && !seen.is_leaving(); }

void SlotHolder::erase_begun(const OpenStep& open, SlotSet& slots) const {
  for (const auto range : seen.computed_ranges(open.step)) {
    slots.erase(range);
  }
  if (const auto slot = seen.in_hand(open.step); slot != kNoSlot) {
    slots.erase({slot, slot + 1});
  }
}

Slot SlotHolder::next_left(const OpenStep& open, SlotRange range) const {
  if (seen.has_passed(open.step)) {
    return range.end;
  }
  const auto* computed = seen.computed(open.step);
  const auto in_hand = seen.in_hand(open.step);
  const auto next = open.missing.first_of(range, computed);
  return next < range.end && next == in_hand ? open.missing.first_of({next + 1, range.end}, computed) : next;
}

bool SlotHolder::has_some_of(const OpenStep& open) const {
  const auto* computed = seen.computed(open.step);
  return !share.empty() || seen.in_hand(open.step) != kNoSlot || (computed != nullptr && !computed->empty());
}

bool SlotHolder::has_left(const OpenStep& open) const {
  return std::ranges::any_of(share.ranges(), [&](SlotRange range) { return next_left(open, range) < range.end; });
}

bool SlotHolder::is_at_work(const OpenStep& open) const {
  return open.missing.contains(seen.in_hand(open.step)) || has_left(open);
}

bool SlotHolder::is_awaited(const OpenStep& open, SessionId session) const {
  if (share.is_trial()) {
    return is_at_work(open) && suspicion.has_credit();
  }
  if (is_at_work(open)) {
    return true;
  }
  const auto is_missing = [&](SlotRange range) { return open.missing.contains_some_of(range); };
  if (seen.has_passed(open.step) && std::ranges::any_of(share.ranges(), is_missing)) {
    return true;  // by its own word nothing is
  }
  const auto& wanted = open.wanted;
  const auto ranges = seen.computed_ranges(open.step);
  if (std::ranges::any_of(ranges, [&](SlotRange range) { return wanted.of_anybody.contains_some_of(range); })) {
    return true;
  }
  const auto* computed = seen.computed(open.step);
  return computed != nullptr && std::ranges::any_of(wanted.offered, [&](const auto& slot) {
           return computed->contains(slot.first) && std::ranges::find(slot.second, session) == slot.second.end();
         });
}

}  // namespace ballast
