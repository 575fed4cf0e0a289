// The databases of a run for another number of shards, built anew from its complete snapshots. Which shard owns a chunk
// follows from the arena and the number of shards alone, and a tensor's record names no shard: so records are copied as
// they are, each to its chunk's new owner, and no bit of the run changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "storage/store/run_reader.h"

namespace ballast {

// Whose copies of snapshots (durability.copy_to) the new databases go on with.
enum class CopiesOf : std::uint8_t {
  same_run,  // those that the run has: the new databases take the old ones' place
  new_run,   // none yet, under a name of their own: the old databases stay, and may go on as well
};

// The ledger as the new databases have it: of no life of a shard, since they had none, and of no snapshot that was
// being written. `ledger` lists a complete snapshot.
Ledger resharded(Ledger ledger, CopiesOf copies);

// The complete snapshots that databases hold, ascending: the ledger's, without the initial weights of a job that draws
// them from its seed.
std::vector<SnapshotId> kept_snapshots(const Ledger& ledger, bool draws_initial_weights);

struct ReshardTarget {
  std::vector<std::filesystem::path> databases;  // by shard; nothing is there yet
  std::string effective_job;                     // YAML, with the new number of shards
  CopiesOf copies = CopiesOf::same_run;
};

// Bytes that the databases take of the disk at most: the snapshots, the ledger, and RocksDB's log.
StoreResult<std::uint64_t> bytes_to_build(const RunReader& run, const std::vector<SnapshotId>& snapshots,
                                          std::uint32_t shards);

// Builds all of them, one after the other; durable when it returns ok, but for the names of the folders above. Memory
// is bounded by what one database takes and a batch of 4 MiB, whatever the model. `corrupt`, naming database and key,
// if a record of the snapshots is missing, damaged or of another size. What is built so far stays after a failure.
StoreStatus build_databases(const RunReader& run, const std::vector<SnapshotId>& snapshots,
                            const ReshardTarget& target);

// Whether both have the same weights and optimizer state in the snapshot, by their digests: these. `corrupt`, naming
// the database of shard 0, if not.
StoreResult<WeightsDigest> compare_snapshot(const RunReader& before, const RunReader& after,
                                            const SnapshotId& snapshot);

}  // namespace ballast
