#include "tests/simulation/judge/recovery.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

// What is found again is what was appended, one after the other. Returns the version that the chunk comes to.
Version check_prefix(const ItemHistories& histories, const ItemHistories::Chunk& known, ChunkId chunk, Version version,
                     const std::vector<JournalRecord>& records) {
  for (const auto& record : records) {
    if (record.chunk != chunk) {
      continue;
    }
    const auto what = histories.place(chunk, record.item);
    if (version >= known.entries.size()) {
      throw Violation(what + ": found again, though nothing was appended after version " + std::to_string(version));
    }
    const auto& entry = known.entries[version];
    if (record.version != version || record.item != entry.item || record.payload.value != entry.payload.value ||
        !(record.factors == entry.factors) || record.staleness != entry.staleness) {
      throw Violation(what + ": what is found again is not what was appended as version " + std::to_string(version));
    }
    ++version;
  }
  return version;
}

// Of a shard whose disk has lost nothing.
void check_nothing_lost(const ItemHistories::Chunk& known, ChunkId chunk, Version version) {
  if (version < known.applied) {
    throw Violation("chunk " + std::to_string(chunk) + " comes back at version " + std::to_string(version) +
                    ", but version " + std::to_string(known.applied) + " was served, and the disk has lost nothing");
  }
  for (Version lost = version; lost < known.entries.size(); ++lost) {
    require(!known.entries[lost].receipted, "an item that has its receipt is forgotten, and the disk has lost nothing");
  }
}

}  // namespace

bool is_committed(const LifeSpec& life, const Disk& disk, Timeline timeline, std::uint64_t sequence) {
  const auto& journal = disk.journal;
  if (journal.timeline != timeline) {
    return sequence != ~std::uint64_t{0};  // another lane has begun a newer timeline: it says nothing of this one's
  }
  return sequence <= (life.items->journal == LifeItems::Journal::always ? journal.synced : journal.written);
}

void check_recovered(const LifeSpec& life, const ItemHistories& histories, const LaneLife& lane, Step base,
                     const Journal& journal, const std::vector<JournalRecord>& records) {
  const auto& path = histories.of(lane.timeline);
  const auto from = life.updates(base);
  require(from >= journal.released, "a recovery begins before what the journal has let go of");
  for (ChunkId chunk = 0; chunk < path.chunks.size(); ++chunk) {
    if (life.chunks[chunk].lane != lane.lane) {
      continue;
    }
    const auto& known = path.chunks[chunk];
    if (known.entries.size() < from) {
      throw Violation("chunk " + std::to_string(chunk) + " goes on from the snapshot of step " + std::to_string(base) +
                      ", which it has never come to");
    }
    const auto version = check_prefix(histories, known, chunk, from, records);
    if (!path.lossy.contains(lane.lane / life.lanes)) {
      check_nothing_lost(known, chunk, version);
    }
  }
}

void Rollbacks::timeline_wanted(const ItemHistories& histories, const Disks& disks) {
  may_begin_again_ = may_begin_again_ || histories.empty() ||
                     std::any_of(disks.present.begin(), disks.present.end(), [&](const Disk& disk) {
                       return disk.timeline < histories.newest() || disk.journal.timeline != disk.timeline;
                     });
}

void Rollbacks::timeline_begins(const ItemHistories& histories, const Disks& disks) {
  if (life_.journaled() && !histories.empty()) {
    timeline_wanted(histories, disks);
    require(!histories.of(histories.newest()).lossy.empty() || may_begin_again_,
            "the job goes back though every shard could have gone on");
    facts_.note(Fact::broken_mark, !may_begin_again_);
  }
  may_begin_again_ = false;
}

}  // namespace ballast::simulation
