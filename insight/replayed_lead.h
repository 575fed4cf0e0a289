// The lead of a replay: who computes which slots, by its own rules.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "insight/job_times.h"
#include "protocol/lead/round_progress.h"
#include "protocol/lead/slot_shares.h"

namespace ballast::insight {

class ReplayedLead {
 public:
  explicit ReplayedLead(const JobTimes& times);

  struct Order {
    std::size_t worker = 0;
    Standing standing;
    std::optional<StepWork> now;
  };

  // All of them, before the first step.
  [[nodiscard]] std::vector<Order> first_orders() const;
  // What follows from a heartbeat, a lane's report, or time.
  std::vector<Order> heard(std::size_t worker, const SlotProgress& progress, Micros now);
  std::vector<Order> reported(std::uint32_t lane, const LaneReport& report, Micros now);
  std::vector<Order> ticks(Micros now) { return turn(now); }

 private:
  static constexpr Step kNoEnd = Step{1} << 40U;

  std::vector<Order> turn(Micros now);
  [[nodiscard]] Order order_for(std::size_t worker) const;

  std::vector<SessionId> sessions_;
  SlotShares shares_;
  RoundProgress progress_;
  Generation told_ = 0;
};

}  // namespace ballast::insight
