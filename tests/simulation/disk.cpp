#include "tests/simulation/disk.h"

#include <algorithm>

namespace ballast::simulation {

void Disk::sync() {
  for (auto& [id, chunks] : snapshots) {
    for (auto& [chunk, stored] : chunks) {
      stored.synced = true;
    }
  }
}

std::vector<SnapshotId> Disk::whole(std::uint32_t lanes) const {
  std::vector<SnapshotId> found;
  for (const auto& [id, by] : seals) {
    if (by.size() == lanes) {
      found.push_back(id);
    }
  }
  return found;
}

void Disk::begin_life(std::uint32_t lanes) {
  ++life.count;
  std::erase_if(seals, [&](const auto& sealed) { return sealed.second.size() < lanes; });
}

bool Disk::lose_unsynced() {
  std::size_t lost = 0;
  for (auto& [id, chunks] : snapshots) {
    lost += std::erase_if(chunks, [](const auto& chunk) { return !chunk.second.synced; });
  }
  return lost > 0;
}

std::vector<SnapshotId> Disk::superseded(const std::vector<SnapshotId>& keep) const {
  std::vector<SnapshotId> found;
  const auto newest = *std::max_element(keep.begin(), keep.end());
  for (const auto& [id, chunks] : snapshots) {
    if (id < newest && std::find(keep.begin(), keep.end(), id) == keep.end()) {
      found.push_back(id);
    }
  }
  return found;
}

const ChunkValue* Disk::durable(SnapshotId id, ChunkId chunk) const {
  const auto snapshot = snapshots.find(id);
  if (snapshot == snapshots.end()) {
    return nullptr;
  }
  const auto stored = snapshot->second.find(chunk);
  return stored == snapshot->second.end() || !stored->second.synced ? nullptr : &stored->second.value;
}

void StoredLedger::apply(const LedgerChange& change) {
  ledger = change.ledger;
  if (change.trim_from) {
    std::erase_if(statistics, [&](const StepStatistics& known) { return known.step >= *change.trim_from; });
    std::erase_if(evaluations, [&](const EvaluationRecord& known) { return known.step > *change.trim_from; });
  }
  statistics.insert(statistics.end(), change.statistics.begin(), change.statistics.end());
  evaluations.insert(evaluations.end(), change.evaluations.begin(), change.evaluations.end());
}

LeadMemory StoredLedger::memory(Step steps_per_epoch, bool all) const {
  LeadMemory memory;
  memory.ledger = ledger;
  memory.evaluations = evaluations;
  memory.statistics_next = statistics.empty() ? 0 : statistics.back().step + 1;
  const Step epoch = ledger.base.step - ledger.base.step % steps_per_epoch;
  const Step first = all ? 0 : epoch - std::min(epoch, steps_per_epoch);
  for (const auto& known : statistics) {
    if (known.step < first) {
      memory.examples_before += static_cast<std::uint64_t>(known.examples);
    } else {
      memory.statistics.push_back(known);
    }
  }
  return memory;
}

}  // namespace ballast::simulation
