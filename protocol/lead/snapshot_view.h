// What the shards' reports say of the timeline's snapshots: which are whole, which are on their way, which never come.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "protocol/ids.h"
#include "protocol/lead/course.h"
#include "protocol/lead/evaluations.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/ledger.h"

namespace ballast {

// For the length of a call: it refers to what it looks at. All shards are there and serve the timeline.
class SnapshotView {
 public:
  // `end`: the step of the job's final snapshot, while that is all that is waited for.
  SnapshotView(const ShardRoster& shards, const Course& course, const Evaluations& evaluations, Timeline timeline,
               std::optional<Step> end)
      : shards_(shards), course_(course), evaluations_(evaluations), timeline_(timeline), end_(end) {}

  // Of this timeline: durable with every shard, whether or not it is a cut. Costs snapshots times lanes.
  [[nodiscard]] std::set<SnapshotId> held_by_all() const;
  // Taken by some shard and not durable yet, and a cut though this lead may not have ordered it.
  [[nodiscard]] std::set<SnapshotId> being_written() const;
  // Why the snapshot of the step will never be complete: a shard could not write it, or (empty) it is too late.
  [[nodiscard]] std::optional<std::string> why_missed(Step step) const;
  // Whether an order by a lead before this one still makes a cut.
  [[nodiscard]] bool is_still_a_cut(Step step) const { return course_.is_still_a_cut(step, shards_, evaluations_); }

 private:
  const ShardRoster& shards_;
  const Course& course_;
  const Evaluations& evaluations_;
  Timeline timeline_;
  std::optional<Step> end_;
};

// Leaves in the ledger the newest `kept` complete snapshots, the best, the one that is being copied, and the newest
// that is.
void forget_superseded(Ledger& ledger, std::size_t kept);

}  // namespace ballast
