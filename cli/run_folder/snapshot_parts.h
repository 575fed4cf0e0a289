// Whether databases have their parts of the snapshot that a run goes on from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "protocol/ledger.h"
#include "storage/store/shard_store.h"

namespace ballast {

// `databases` by shard. Throws std::runtime_error naming the database, the shard, the step and the remedy if one cannot
// be read, or does not hold its part of the ledger's newest complete snapshot as a whole. The weights drawn at the
// beginning are in none. Reads no weights.
void check_snapshot_parts(const std::vector<std::filesystem::path>& databases, const Ledger& ledger);

// The same of one shard's database and any of the run's complete snapshots but the weights that were drawn.
void check_snapshot_part(const ShardStore& store, std::uint32_t shard, const SnapshotId& snapshot);

}  // namespace ballast
