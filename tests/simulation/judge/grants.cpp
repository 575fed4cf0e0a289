#include "tests/simulation/judge/grants.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

void GrantsJudge::granted(const ItemHistories& histories, SessionId session, Timeline timeline, const Grant& grant) {
  require(!settled_.contains(grant.clock), "a grant is ordered that its session has said to have delivered or dropped");
  if (const auto known = grants_.find(grant.clock); known != grants_.end()) {
    return require(known->second == std::pair(session, grant.item), "two grants have the same clock");
  }
  const auto limit = life_.updates(histories.next_cut(histories.of(timeline)));
  if (grant.item >= limit) {
    throw Violation("item " + std::to_string(grant.item) + " is granted, before everything below item " +
                    std::to_string(limit) + " is there");
  }
  grants_[grant.clock] = {session, grant.item};
  granted_until_ = std::max(granted_until_, grant.item + 1);
  if (hanging_.contains(session)) {
    ++in_vain_[{session, timeline}];
  }
}

std::uint32_t GrantsJudge::granted_in_vain(SessionId session, Timeline timeline) const {
  const auto known = in_vain_.find({session, timeline});
  return known == in_vain_.end() ? 0 : known->second;
}

void GrantsJudge::assigned(const ItemHistories& histories, SessionId session, const Assign& assign) {
  for (const auto& grant : assign.items.grants) {
    granted(histories, session, assign.timeline, grant);
  }
  if (life_.items->bound > 0 && assign.items.grants.empty() && assign.timeline != 0 && !assign.evaluation) {
    const auto& known = histories.of(assign.timeline);
    facts_.note(Fact::grant_delayed,
                granted_until_ < std::min<ItemId>(life_.updates(histories.next_cut(known)), known.planned));
  }
}

void GrantsJudge::planned(ItemHistories& histories, const Plan& plan) const {
  auto& known = histories.of(plan.timeline);
  require(plan.first + plan.factors.size() <= life_.updates(histories.next_cut(known)),
          "a plan beyond the next step where all wait");
  for (std::size_t i = 0; i < plan.factors.size(); ++i) {
    const auto version = plan.first + i;
    require(plan.factors[i] == factors(version / life_.slots, version), "a plan with other factors than a version's");
  }
  known.planned = std::max(known.planned, plan.first + plan.factors.size());
}

}  // namespace ballast::simulation
