#include "protocol/lead/trial_claim.h"

#include <algorithm>

namespace ballast {

bool TrialClaim::may_come(SessionId session, const SlotHolder& own, Slot slot, const OpenStep& open) {
  if (own.suspicion.is_suspect() || own.seen.is_leaving() || open.wanted.of_anybody.contains(slot) ||
      open.wanted.out_of_standing.contains(session)) {
    return false;
  }
  const auto* computed = own.seen.computed(open.step);
  const auto wanted = open.wanted.offered.find(slot);
  const bool is_offered =
      wanted == open.wanted.offered.end() || std::ranges::find(wanted->second, session) != wanted->second.end();
  return computed != nullptr && computed->contains(slot) && is_offered;
}

void TrialClaim::believe(SessionId session, Slot slot) {
  session_ = session;
  slot_ = slot;
}

void TrialClaim::close(bool was_true, Step next) {
  if (session_ == 0) {
    return;
  }
  session_ = 0;
  in_vain_ = was_true ? 0 : std::min(in_vain_ + 1, kMostInVain);
  from_ = next + (Step{1} << in_vain_) - 1;
}

void TrialClaim::rewind() {
  session_ = 0;
  from_ = 0;
}

}  // namespace ballast
