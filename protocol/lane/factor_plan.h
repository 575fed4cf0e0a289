// The factors of the updates to come, as far as a lane has heard them from the lead.
#pragma once

#include <deque>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Invariant: the factors of a version, once known, do not change: all chunks of the lane are updated with the same
// ones. Pure and copyable. Not thread-safe.
class FactorPlan {
 public:
  // Nothing is known any more.
  void clear() { factors_.clear(); }
  // The first one to become known is that of `first`.
  void begin(Version first);
  // What a plan says that is not known yet. A plan that begins beyond what is known is of use only if no chunk is at a
  // version before it; `oldest` is one that none is before.
  void extend(Version first, const std::vector<StepFactors>& factors, Version oldest);
  // All chunks are at that version or beyond: those before it are of no use any more.
  void passed(Version version);

  [[nodiscard]] Version end() const { return first_ + factors_.size(); }
  // Null if not known, or not any more.
  [[nodiscard]] const StepFactors* find(Version version) const;

  // All of it.
  [[nodiscard]] auto state() const { return listed::all(listed::plain(first_, factors_)); }

 private:
  Version first_ = 0;
  std::deque<StepFactors> factors_;
};
static_assert(lists_all_members<FactorPlan>());

}  // namespace ballast
