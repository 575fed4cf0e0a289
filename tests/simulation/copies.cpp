#include "tests/simulation/copies.h"

namespace ballast::simulation {

bool CopyPlace::has(RunId run, SnapshotId id, std::uint32_t shard) const {
  const auto* set = find(run, id);
  return set != nullptr && set->contains(shard);
}

bool CopyPlace::is_complete(RunId run, SnapshotId id) const {
  const auto* set = find(run, id);
  return set != nullptr && set->size() == life_.shards;
}

const std::map<std::uint32_t, CopyPlace::Part>* CopyPlace::find(RunId run, SnapshotId id) const {
  const auto sets = runs_.find(run);
  if (sets == runs_.end() || !sets->second.contains(id)) {
    return nullptr;
  }
  return &sets->second.at(id);
}

std::vector<SnapshotId> CopyPlace::whole_sets(RunId run) const {
  std::vector<SnapshotId> found;
  if (const auto sets = runs_.find(run); sets != runs_.end()) {
    for (const auto& [id, parts] : sets->second) {
      if (is_complete(run, id)) {
        found.push_back(id);
      }
    }
  }
  return found;
}

const CopyPlace::Part* CopyPlace::undamaged(RunId run, SnapshotId id, std::uint32_t shard) const {
  return has(run, id, shard) && !damaged_.contains({run, id, shard}) ? &find(run, id)->at(shard) : nullptr;
}

std::vector<SnapshotId> CopyPlace::superseded(const CopyState& copies) const {
  std::vector<SnapshotId> found;
  const auto sets = runs_.find(copies.run);
  if (sets == runs_.end() || is_taken(copies.run)) {
    return found;
  }
  std::uint32_t newer = 0;
  for (auto set = sets->second.rbegin(); set != sets->second.rend(); ++set) {
    const auto id = set->first;
    const bool is_whole = is_complete(copies.run, id);
    const bool is_old = id < copies.named || id < copies.complete;
    if (is_old && id != copies.complete && (!is_whole || newer >= life_.snapshots_kept)) {
      found.push_back(id);
    }
    newer += is_whole ? 1 : 0;
  }
  return found;
}

}  // namespace ballast::simulation
