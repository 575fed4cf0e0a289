// The place to which the shards copy snapshots, and what must hold of the sets in it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/ledger.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/life.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

class CopyPlace {
 public:
  using Part = std::map<ChunkId, ChunkValue>;

  explicit CopyPlace(const LifeSpec& life) : life_(life) {}

  void put(RunId run, SnapshotId id, std::uint32_t shard, Part part) { runs_[run][id][shard] = std::move(part); }
  [[nodiscard]] bool has(RunId run, SnapshotId id, std::uint32_t shard) const;
  [[nodiscard]] bool is_complete(RunId run, SnapshotId id) const;
  [[nodiscard]] const std::map<std::uint32_t, Part>* find(RunId run, SnapshotId id) const;
  // What may go, by the newest word of the lead that shard 0 has heard.
  [[nodiscard]] std::vector<SnapshotId> superseded(const CopyState& copies) const;
  void remove(RunId run, SnapshotId id) { runs_[run].erase(id); }

  // Another job goes on from a copy of this one's ledger, under the run's name: what is there is that one's.
  void take(RunId run) { taken_.insert(run); }
  [[nodiscard]] bool is_taken(RunId run) const { return taken_.contains(run); }

 private:
  const LifeSpec& life_;
  std::map<RunId, std::map<SnapshotId, std::map<std::uint32_t, Part>>> runs_;
  std::set<RunId> taken_;
};

// Every method throws Violation.
class CopiesJudge {
 public:
  CopiesJudge(const LifeSpec& life, const std::vector<Disk>& disks, const CopyPlace& place)
      : life_(life), disks_(disks), place_(place) {}

  void ledger_durable(const Ledger& before, const Ledger& after, Micros now);
  void removes(const Ledger& durable, RunId run, SnapshotId id) const;
  // The job has finished; nothing has ever failed in copying.
  void finished_well(const Ledger& durable) const;
  // The user has stopped it, with patience left.
  void stopped_well(const Ledger& durable, Micros now) const;

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  [[nodiscard]] CopyState state_before(const CopyState& was, const CopyState& is);
  void check_complete(RunId run, SnapshotId id) const;
  [[nodiscard]] bool is_undisturbed() const;
  [[nodiscard]] bool may_be_given_up(Micros now) const;

  const LifeSpec& life_;
  const std::vector<Disk>& disks_;
  const CopyPlace& place_;
  Micros named_at_ = 0;
  Timeline named_on_ = 0;
  bool ended_late_ = false;  // patience with the last copy may have been over
  FactSet facts_;
};

}  // namespace ballast::simulation
