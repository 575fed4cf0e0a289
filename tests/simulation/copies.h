// The place to which the shards copy snapshots, and what must hold of the sets in it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/ledger.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/life.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

class CopyPlace {
 public:
  using Part = std::map<ChunkId, ChunkValue>;

  explicit CopyPlace(const LifeSpec& life) : life_(life) {}

  void put(SnapshotId id, std::uint32_t shard, Part part) { sets_[id][shard] = std::move(part); }
  [[nodiscard]] bool has(SnapshotId id, std::uint32_t shard) const;
  [[nodiscard]] bool is_complete(SnapshotId id) const;
  [[nodiscard]] const std::map<std::uint32_t, Part>* find(SnapshotId id) const;
  // What may go, by the newest word of the lead that shard 0 has heard.
  [[nodiscard]] std::vector<SnapshotId> superseded(const CopyState& copies) const;
  void remove(SnapshotId id) { sets_.erase(id); }

 private:
  const LifeSpec& life_;
  std::map<SnapshotId, std::map<std::uint32_t, Part>> sets_;
};

// Every method throws Violation.
class CopiesJudge {
 public:
  CopiesJudge(const LifeSpec& life, const std::vector<Disk>& disks, const CopyPlace& place)
      : life_(life), disks_(disks), place_(place) {}

  void ledger_durable(const Ledger& before, const Ledger& after, Micros now);
  void removes(const Ledger& durable, SnapshotId id) const;
  // The job has finished; nothing has ever failed in copying.
  void finished_well(const Ledger& durable) const;
  // The user has stopped it, with patience left.
  void stopped_well(const Ledger& durable, Micros now) const;

  [[nodiscard]] bool copied() const { return copied_; }
  [[nodiscard]] bool dropped() const { return dropped_; }
  [[nodiscard]] bool outlived_a_rollback() const { return outlived_a_rollback_; }

 private:
  void check_complete(SnapshotId id) const;
  [[nodiscard]] bool may_be_given_up(Micros now) const;

  const LifeSpec& life_;
  const std::vector<Disk>& disks_;
  const CopyPlace& place_;
  Micros named_at_ = 0;
  Timeline named_on_ = 0;
  bool ended_late_ = false;  // patience with the last copy may have been over
  bool copied_ = false;
  bool dropped_ = false;
  bool outlived_a_rollback_ = false;  // what was named before is copied after it
};

}  // namespace ballast::simulation
