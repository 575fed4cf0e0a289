// A worker of a replay: which slots it computes, and which sums it sends of them.
#pragma once

#include <optional>
#include <vector>

#include "insight/job_times.h"
#include "protocol/messages.h"
#include "protocol/recent_median.h"
#include "protocol/slot_set.h"

namespace ballast::insight {

// As a worker does by its orders (protocol/worker/round_work, docs/protocol.md). Times are the replay's.
class ReplayedWorker {
 public:
  ReplayedWorker(const WorkerTimes& times, const SharingRules& rules);

  void order(const Standing& standing, std::optional<StepWork> now);
  // Whether it has slots of the step.
  [[nodiscard]] bool wants(Step step) const;
  void begin(Step step);
  [[nodiscard]] Step step() const { return step_; }

  // The first of its slots that is not computed, or none.
  [[nodiscard]] std::optional<Slot> next() const;
  // It computes the slot from now on. The nodes of which this is the last slot.
  std::vector<Node> compute(Slot slot, double now);
  void end_slot(double now);
  [[nodiscard]] bool is_computing() const { return in_hand_ != kNoSlot; }
  // Nodes of slots that it has computed and will add nothing to: others have what would come after them.
  std::vector<Node> left_over();
  // How many slots of this step it has begun before.
  [[nodiscard]] std::size_t begun() const { return begun_count_; }

  // Its heartbeat, when so many bytes are not sent yet.
  [[nodiscard]] SlotProgress progress(double now, double unsent) const;

 private:
  [[nodiscard]] std::vector<SlotRange> ranges() const;
  [[nodiscard]] SlotRange standing_at(Step step) const;
  void complete(SlotRange range, std::vector<Node>& nodes, Slot without = kNoSlot);

  const WorkerTimes& times_;
  Slot slots_;
  std::vector<Standing> standings_;  // ascending by `from`
  std::optional<StepWork> now_;
  Step step_ = 0;
  SlotSet computed_;  // with the slot in hand
  SlotSet sent_;
  Slot in_hand_ = kNoSlot;
  double in_hand_since_ = 0;
  std::optional<double> step_since_;
  std::size_t begun_count_ = 0;
  RecentMedian<15> slot_times_;
};

}  // namespace ballast::insight
