// The place to which the shards copy snapshots.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "protocol/ids.h"
#include "protocol/ledger.h"
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
  // Of the run, ascending.
  [[nodiscard]] std::vector<SnapshotId> whole_sets(RunId run) const;
  // Nobody gets the part any more, though it is there.
  void damage(RunId run, SnapshotId id, std::uint32_t shard) { damaged_.insert({run, id, shard}); }
  // Null if there is none, or a damaged one.
  [[nodiscard]] const Part* undamaged(RunId run, SnapshotId id, std::uint32_t shard) const;

  // Another job goes on from a copy of this one's ledger, under the run's name: what is there is that one's.
  void take(RunId run) { taken_.insert(run); }
  [[nodiscard]] bool is_taken(RunId run) const { return taken_.contains(run); }

 private:
  const LifeSpec& life_;
  std::map<RunId, std::map<SnapshotId, std::map<std::uint32_t, Part>>> runs_;
  std::set<RunId> taken_;
  std::set<std::tuple<RunId, SnapshotId, std::uint32_t>> damaged_;
};

// Of a job that names its run.
inline constexpr RunId kNamedRun = 77;

}  // namespace ballast::simulation
