// The lead of a replay of a job in items: who is granted which, by its own rules.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/job_times.h"
#include "protocol/lead/item_grants.h"
#include "protocol/messages.h"

namespace ballast::insight {

class ReplayedGrants {
 public:
  explicit ReplayedGrants(const JobTimes& times);

  struct Order {
    std::size_t worker = 0;
    Assign assign;
  };

  // What follows from a heartbeat, from what lanes report to be covered, or from time. The first call grants the first
  // items.
  std::vector<Order> delivered(std::size_t worker, const std::vector<LeadNumber>& grants, Micros now);
  std::vector<Order> covered(const std::vector<ItemId>& items, Micros now);
  std::vector<Order> ticks(Micros now);

 private:
  ItemGrants grants_;
};

}  // namespace ballast::insight
