// `ballast inspect`: what a run's databases hold, and whether it is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/ledger.h"
#include "protocol/metrics.h"
#include "storage/journal/journal_records.h"
#include "storage/store/shard_store.h"

namespace ballast {

struct InspectOptions {
  std::string run;
  bool verify = false;  // read every record and check every checksum
  bool json = false;
};

// What one snapshot has in all shards together.
struct SnapshotState {
  SnapshotId id;
  bool complete = false;  // by the ledger
  bool best = false;
  bool finished = false;            // the job's end
  bool whole = false;               // every chunk is there
  bool drawn = false;               // the initial weights, which follow from the seed: nothing is kept
  std::vector<std::size_t> chunks;  // there are, by shard
  std::uint64_t bytes = 0;          // of its records
};

// The journal of one shard.
struct JournalState {
  std::uint32_t shard = 0;
  Timeline timeline = 0;
  std::size_t segments = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;       // of the records
  JournalSequence last = 0;      // sequence
  std::uint64_t cut_bytes = 0;   // behind the last whole record: a group that is being written, or was when it ended
  std::vector<ShardLife> lives;  // of the shard, in the timeline
};

// A run's folder, as far as it can be read.
struct RunState {
  std::string folder;
  std::optional<Identity> identity;      // of the first shard that has one
  std::optional<MetricKind> best_by;     // what the best validation is the best in; nothing without an identity
  std::vector<std::size_t> chunks;       // that a whole snapshot has, by shard; empty without an identity
  std::vector<std::uint64_t> disk;       // bytes of files, by shard
  std::vector<JournalState> journals;    // of the shards that have one
  LedgerContent ledger;                  // an empty one if there is none
  std::vector<SnapshotState> snapshots;  // ascending
  std::uint64_t records = 0;             // that were verified
  std::vector<std::string> problems;     // each names its database, where there is one its key, and the remedy
};

// Reads everything that can be read; what cannot becomes a problem. Throws std::runtime_error if the folder holds no
// run at all.
RunState inspect_run(const std::string& folder, bool verify);

// Prints it. Returns the exit code: 1 if there is any problem; those are on standard error.
int inspect(const InspectOptions& options);

}  // namespace ballast
