// Which versions become snapshots.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// One periodic snapshot is on its way at a time: one that falls due meanwhile is missed, for all shards alike. So a due
// version is decided about as late as the plan allows; what is decided does not change.
class SnapshotSchedule {
 public:
  // Due at every multiple of `every`; 0: never.
  explicit SnapshotSchedule(Step every) : every_(every) {}

  // Begins anew at a timeline's base: nothing is ordered.
  void rewind(Step base);
  // Decides about what falls due, as far as it can be decided with the shards at `open`. Returns how many are missed.
  std::uint64_t decide(Step open);
  // No factors of this step or later may be given out: the version before them is not decided about.
  [[nodiscard]] Step decided_until() const;

  // Beside what is due: at the job's end, for its best weights, or before a pause.
  void order(Step step);
  [[nodiscard]] const std::set<Step>& ordered() const { return ordered_; }
  // It will never be complete.
  void close(Step step) { ordered_.erase(step); }
  // It is complete: older ones are of no use any more.
  void close_through(Step step) { ordered_.erase(ordered_.begin(), ordered_.upper_bound(step)); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(every_, last_, ordered_));
  }

 private:
  [[nodiscard]] Step next_due() const { return (last_ / every_ + 1) * every_; }

  Step every_;
  Step last_ = 0;           // the newest due version that is decided about, or the base
  std::set<Step> ordered_;  // and neither complete nor given up
};

}  // namespace ballast
