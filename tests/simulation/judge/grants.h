// Judges which items the lead grants, and for which versions it plans factors.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/judge/item_histories.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class GrantsJudge {
 public:
  explicit GrantsJudge(const LifeSpec& life) : life_(life) {}

  void assigned(const ItemHistories& histories, SessionId session, const Assign& assign);
  // The lead hears from the grants' session that it has delivered or dropped them.
  void settled(const std::vector<LeadNumber>& clocks) { settled_.insert(clocks.begin(), clocks.end()); }
  // The session ends no computation any more.
  void hangs(SessionId session) { hanging_.insert(session); }
  // Grants that it has been given since, in the timeline.
  [[nodiscard]] std::uint32_t granted_in_vain(SessionId session, Timeline timeline) const;
  void planned(ItemHistories& histories, const Plan& plan) const;

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  void granted(const ItemHistories& histories, SessionId session, Timeline timeline, const Grant& grant);

  const LifeSpec& life_;
  std::map<LeadNumber, std::pair<SessionId, ItemId>> grants_;  // by clock
  std::set<LeadNumber> settled_;                               // by clock; ordered no more
  ItemId granted_until_ = 0;
  std::set<SessionId> hanging_;
  std::map<std::pair<SessionId, Timeline>, std::uint32_t> in_vain_;
  FactSet facts_;
};

}  // namespace ballast::simulation
