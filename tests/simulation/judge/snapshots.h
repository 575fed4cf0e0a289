// Judges which snapshots are ordered, called complete, kept and deleted. What is in them is the course's business.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

class SnapshotOrders {
 public:
  void planned(const Plan& plan) { ordered_[plan.timeline].insert(plan.snapshots.begin(), plan.snapshots.end()); }
  // A chunk is taken into it; throws Violation.
  void taken(const LaneLife& lane, SnapshotId id) const;

 private:
  std::map<Timeline, std::set<Step>> ordered_;
};

// The following throw Violation.

// What a ledger that is durable now says of its snapshots.
void check_listed(const LifeSpec& life, const Ledger& ledger);
// It is durable, all chunks that `is_fit` with the values that they should have.
void check_stored(const LifeSpec& life, const Disks& disks, SnapshotId id,
                  const std::function<bool(const Disk&)>& is_fit, const std::function<ChunkValue(ChunkId)>& expected);
void check_deletion(const Ledger& durable, std::uint32_t shard, SnapshotId id);
// A lane says that it holds its part of these.
void check_claims(const LifeSpec& life, const Disks& disks, const Ledger& durable, const LaneLife& lane,
                  const LaneReport& report);

// ---- the end

// `before`: the durable ledger until now.
void check_end(const Ledger& before, const Ledger& ledger);
void check_end_recorded(const LifeSpec& life, const Disks& disks, const Ledger& durable, const LaneLife& lane,
                        SnapshotId end);

}  // namespace ballast::simulation
