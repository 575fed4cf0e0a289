// Judges which items the lead grants, and for which versions it plans factors.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

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
  void planned(ItemHistories& histories, const Plan& plan) const;

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  void granted(const ItemHistories& histories, SessionId session, Timeline timeline, const Grant& grant);

  const LifeSpec& life_;
  std::map<LeadNumber, std::pair<SessionId, ItemId>> grants_;  // by clock
  ItemId granted_until_ = 0;
  FactSet facts_;
};

}  // namespace ballast::simulation
