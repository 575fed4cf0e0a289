#include "insight/replayed_lead.h"

#include <algorithm>

namespace ballast::insight {
namespace {

SlotShares::Rules rules_of(const SharingRules& sharing) {
  SlotShares::Rules rules;
  rules.step = {sharing.slots, sharing.bytes, std::max<std::uint32_t>(sharing.chunks, 1)};
  rules.by_speed = sharing.by_speed;
  rules.redistributes = sharing.redistributes;
  return rules;
}

}  // namespace

// Sessions are numbered by their workers' places: theirs may be anything.
ReplayedLead::ReplayedLead(const JobTimes& times)
    : shares_(rules_of(times.rules)), progress_(times.rules.slots, kNoEnd) {
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    sessions_.push_back(i + 1);
  }
  shares_.divide(sessions_, 0);
  told_ = shares_.generation();
}

std::vector<ReplayedLead::Order> ReplayedLead::first_orders() const {
  std::vector<Order> orders;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    orders.push_back(order_for(i));
  }
  return orders;
}

ReplayedLead::Order ReplayedLead::order_for(std::size_t worker) const {
  return {worker, shares_.standing(sessions_[worker], kNoEnd), shares_.now(sessions_[worker])};
}

std::vector<ReplayedLead::Order> ReplayedLead::heard(std::size_t worker, const SlotProgress& progress, Micros now) {
  return shares_.heard(sessions_[worker], progress, now) ? turn(now) : std::vector<Order>();
}

std::vector<ReplayedLead::Order> ReplayedLead::reported(std::uint32_t lane, const LaneReport& report, Micros now) {
  progress_.take({0, lane}, report);
  shares_.brought(report.slots_by_session, report.open_step);
  shares_.observe(progress_.open_step(), progress_.missing(), now);
  return turn(now);
}

std::vector<ReplayedLead::Order> ReplayedLead::turn(Micros now) {
  shares_.hand_out(sessions_, {}, kNoEnd, now);
  auto changed = shares_.take_changed();
  if (shares_.generation() != told_) {
    told_ = shares_.generation();
    changed.insert(sessions_.begin(), sessions_.end());
  }
  std::vector<Order> orders;
  for (const auto session : changed) {
    orders.push_back(order_for(session - 1));
  }
  return orders;
}

}  // namespace ballast::insight
