// What is durable: each shard's database and the lead's ledger, as far as the cores can tell.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/lead.h"
#include "protocol/ledger.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

// A shard's. What is written outlives its process; only what is synced outlives a power cut.
struct Disk {
  struct StoredChunk {
    ChunkValue value;
    bool synced = false;
  };

  DatabaseLife life;
  std::string initial_weights;  // digest of the file that this life has read; empty: none
  Timeline timeline = 0;
  std::map<SnapshotId, std::map<ChunkId, StoredChunk>> snapshots;
  std::map<SnapshotId, std::set<std::uint32_t>> seals;  // by which lanes of this life; of whole ones by all
  std::optional<SnapshotId> finished;
  bool was_lost = false;  // it took the place of a lost one, and has not got the base of a timeline yet
  Timeline begun = 0;     // the newest that any lane was told of
  Timeline served = 0;    // the newest whose base it has had
  Journal journal;        // of a journaled job

  void write(SnapshotId id, ChunkId chunk, const ChunkValue& value) { snapshots[id][chunk] = {value, false}; }
  // All that was written before is durable.
  void sync();
  // A lane's part is durable. That of lanes whose only chunk is the statistics holds no chunk, and is one all the same.
  void seal(SnapshotId id, std::uint32_t lane) {
    snapshots.try_emplace(id);
    seals[id].insert(lane);
  }
  // The snapshots of which all lanes' parts are durable.
  [[nodiscard]] std::vector<SnapshotId> whole(std::uint32_t lanes) const;
  // Another process has the database: parts are sealed by one life or not at all.
  void begin_life(std::uint32_t lanes);
  // A shard has served a timeline with it, or has a snapshot of one.
  [[nodiscard]] bool has_begun() const {
    return timeline > 0 || (!snapshots.empty() && snapshots.rbegin()->first != SnapshotId{});
  }
  // Whether there was any.
  bool lose_unsynced();
  // What a Retain may delete.
  [[nodiscard]] std::vector<SnapshotId> superseded(const std::vector<SnapshotId>& keep) const;
  // The chunk's durable value in a snapshot; null if there is none.
  [[nodiscard]] const ChunkValue* durable(SnapshotId id, ChunkId chunk) const;
};

// For each shard that of the server which the job has as the shard, and that of another one which says it is the same.
struct Disks {
  explicit Disks(std::uint32_t shards) : present(shards), others(shards) {}
  [[nodiscard]] Disk& of(std::uint32_t shard, std::uint64_t database) {
    return present[shard].life.database == database ? present[shard] : others[shard];
  }
  [[nodiscard]] const Disk& of(std::uint32_t shard, std::uint64_t database) const {
    return present[shard].life.database == database ? present[shard] : others[shard];
  }

  std::vector<Disk> present;
  std::vector<Disk> others;
};

// The lead's.
struct StoredLedger {
  Ledger ledger;
  std::vector<StepStatistics> statistics;
  std::vector<EvaluationRecord> evaluations;

  void apply(const LedgerChange& change);
  // What the next life of the lead reads: of the statistics those from the epoch before the base on, or all.
  [[nodiscard]] LeadMemory memory(Step steps_per_epoch, bool all) const;
};

}  // namespace ballast::simulation
