// Judges what the lead orders its workers to do, but for what an item mode grants.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

void check_slots(const LifeSpec& life, SlotRange range);
// What a worker of a job of rounds is about to compute.
void check_ranges(const LifeSpec& life, Step step, const std::vector<SlotRange>& ranges);

// Every method throws Violation.
class OrdersJudge {
 public:
  explicit OrdersJudge(const LifeSpec& life) : life_(life) {}

  void lead_starts() { orders_.clear(); }
  // `durable`: the timeline of the durable ledger.
  void assigned(SessionId session, const Assign& assign, Timeline durable);

 private:
  struct Order {
    LeadNumber order;
    Generation generation = 0;
    Assign last;
  };

  void check_content(const Assign& assign, Timeline durable) const;

  const LifeSpec& life_;
  std::map<SessionId, Order> orders_;
};

}  // namespace ballast::simulation
