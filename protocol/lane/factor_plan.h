// The updates to come, as far as a lane has heard of them from the lead: their factors, and where all stop.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Invariant: the factors of a version, once known, do not change: all chunks of the lane are updated with the same
// ones. Where all stop is another matter: there the newest plan counts, and may be nearer than an older one. Pure and
// copyable. Not thread-safe.
class FactorPlan {
 public:
  // Nothing is known any more.
  void clear() { start_at(first_); }
  // The first one to become known is that of `first`; no plan was heard yet.
  void begin(Version first);
  // Another plan is the newest.
  void follow(LeadNumber number, Version until);
  // What a plan says that is not known yet. A plan that begins beyond what is known is of use only if no chunk is at a
  // version before it; `oldest` is one that none is before.
  void extend(Version first, const std::vector<StepFactors>& factors, Version oldest);
  // What a plan says of the first version that is not known. Of any other version it is of no use.
  void foresee(Version version, const std::optional<Prospect>& prospect);
  // All chunks are at that version or beyond: those before it are of no use any more.
  void passed(Version version);

  // The first version without factors, or the one where all stop.
  [[nodiscard]] Version end() const { return std::min(known(), until_); }
  // Null if not known, or not any more, or beyond where all stop.
  [[nodiscard]] const StepFactors* find(Version version) const;
  // By which the update of a version is measured, decided or not, also beyond where all stop; none if not known.
  [[nodiscard]] std::optional<Prospect> prospect(Version version) const;
  // Of the newest plan.
  [[nodiscard]] LeadNumber number() const { return number_; }
  [[nodiscard]] Version until() const { return until_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(first_, factors_, prospect_, until_), listed::names(number_));
  }

 private:
  [[nodiscard]] Version known() const { return first_ + factors_.size(); }
  void start_at(Version first);

  Version first_ = 0;
  std::deque<StepFactors> factors_;
  std::optional<Prospect> prospect_;  // of the first version that is not known
  Version until_ = std::numeric_limits<Version>::max();
  LeadNumber number_;
};

}  // namespace ballast
