#include "insight/replayed_grants.h"

namespace ballast::insight {
namespace {

constexpr ItemId kNoLastItem = ItemId{1} << 60U;

// As protocol/lead/lead.h has them.
ItemGrants::Limits limits_of(const GrantRules& rules) {
  return {rules.ahead, rules.bound, 1, {250'000, 10'000'000, 60'000'000}};
}

}  // namespace

// Sessions are numbered by their workers' places: theirs may be anything.
ReplayedGrants::ReplayedGrants(const JobTimes& times) : grants_(limits_of(*times.items)) {
  std::vector<SessionId> sessions;
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    sessions.push_back(i + 1);
  }
  grants_.set_sessions(sessions);
}

std::vector<ReplayedGrants::Order> ReplayedGrants::delivered(std::size_t worker, const std::vector<LeadNumber>& grants,
                                                             Micros now) {
  if (grants.empty()) {
    return {};  // the next tick is soon enough, and nearly all heartbeats are such
  }
  for (const auto clock : grants) {
    grants_.delivered(worker + 1, clock, now);
  }
  return ticks(now);
}

std::vector<ReplayedGrants::Order> ReplayedGrants::covered(const std::vector<ItemId>& items, Micros now) {
  CoveredItems gained;
  for (const auto item : items) {
    gained.insert(item);
  }
  grants_.observe({}, gained, now);
  return ticks(now);
}

std::vector<ReplayedGrants::Order> ReplayedGrants::ticks(Micros now) {
  grants_.hand_out(kNoLastItem, {}, now);
  std::vector<Order> orders;
  for (const auto session : grants_.take_changed()) {
    auto& order = orders.emplace_back();
    order.worker = session - 1;
    order.assign.items.grants = grants_.grants(session);
  }
  return orders;
}

}  // namespace ballast::insight
