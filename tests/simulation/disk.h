// What is durable: each shard's database and the lead's ledger, as far as the cores can tell.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/lead.h"
#include "common/protocol/ledger.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

// A shard's. What is written outlives its process; only what is synced outlives a power cut.
struct Disk {
  struct StoredChunk {
    ChunkValue value;
    bool synced = false;
  };

  Timeline timeline = 0;
  std::map<SnapshotId, std::map<ChunkId, StoredChunk>> snapshots;
  std::optional<SnapshotId> finished;
  Journal journal;  // of a journaled job

  void write(SnapshotId id, ChunkId chunk, const ChunkValue& value) { snapshots[id][chunk] = {value, false}; }
  // All that was written before is durable.
  void sync();
  // Whether there was any.
  bool lose_unsynced();
  // What a Retain may delete.
  [[nodiscard]] std::vector<SnapshotId> superseded(const std::vector<SnapshotId>& keep) const;
  // The chunk's durable value in a snapshot; null if there is none.
  [[nodiscard]] const ChunkValue* durable(SnapshotId id, ChunkId chunk) const;
};

// The lead's.
struct StoredLedger {
  Ledger ledger;
  std::vector<StepStatistics> statistics;
  std::vector<EvaluationRecord> evaluations;

  void apply(const LedgerChange& change);
  // What the next life of the lead reads: of the statistics those from the epoch before the base on.
  [[nodiscard]] LeadMemory memory(Step steps_per_epoch) const;
};

}  // namespace ballast::simulation
