// Predicates of what a lane says of its items, and takes into snapshots.
#pragma once

#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "tests/simulation/judge/contributions.h"
#include "tests/simulation/judge/item_histories.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// All throw Violation.
void check_report(const LifeSpec& life, const ItemHistories::History& known, const LaneCounts& counts,
                  const LaneLife& lane, const LaneReport& report);
// Each is the sum over its items as they were at some time.
void check_statistics(const ItemHistories::History& known, const std::vector<StepStatistics>& statistics);

// The snapshot has of this chunk the items of the steps before, and no others.
void check_taken(const LifeSpec& life, const ItemHistories& histories, SnapshotId id, ChunkId chunk,
                 const ChunkValue& found);
// Each of these items once.
void check_items(const LifeSpec& life, const ItemHistories::Chunk& known, SnapshotId id, ChunkId chunk);

}  // namespace ballast::simulation
