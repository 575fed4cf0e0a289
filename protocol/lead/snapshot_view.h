// What the shards' reports say of the timeline's snapshots: which are whole, which are on their way, which never come.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "protocol/ids.h"
#include "protocol/lead/course.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/ledger.h"

namespace ballast {

// For the length of a call: it refers to what it looks at. All shards are there and serve the timeline.
class SnapshotView {
 public:
  SnapshotView(const ShardRoster& shards, const Course& course, Timeline timeline)
      : shards_(shards), course_(course), timeline_(timeline) {}

  // Of this timeline: durable with every shard. Costs snapshots times lanes.
  [[nodiscard]] std::set<SnapshotId> held_by_all() const;
  // Why the snapshot of the step will never be complete: a shard could not write it, or (empty) it is too late.
  [[nodiscard]] std::optional<std::string> why_missed(Step step) const;
  // The same of one shard's lane.
  [[nodiscard]] std::optional<std::string> why_missed(LaneId id, Step step) const;

 private:
  const ShardRoster& shards_;
  const Course& course_;
  Timeline timeline_;
};

// Leaves in the ledger the newest `kept` complete snapshots, the best, the one that is being copied, and the newest
// that is.
void forget_superseded(Ledger& ledger, std::size_t kept);

}  // namespace ballast
