#include "tests/simulation/judge/snapshots.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

std::string named(SnapshotId id) {
  return "the snapshot of step " + std::to_string(id.step) + " on timeline " + std::to_string(id.timeline);
}

const Disk& disk_of(const LifeSpec& life, const Disks& disks, const LaneLife& lane) {
  return disks.of(lane.lane / life.lanes, lane.database.database);
}

}  // namespace

void SnapshotOrders::taken(const LaneLife& lane, SnapshotId id) const {
  const auto ordered = ordered_.find(lane.timeline);
  if (id.timeline != lane.timeline || ordered == ordered_.end() || !ordered->second.contains(id.step)) {
    throw Violation(named(id) + " is taken, which nobody has ordered");
  }
}

void check_listed(const LifeSpec& life, const Ledger& ledger) {
  require(!ledger.complete.empty() && std::is_sorted(ledger.complete.begin(), ledger.complete.end()),
          "the complete snapshots are none, or out of order");
  require(ledger.complete.back() >= ledger.base, "no complete snapshot from the base on");
  const auto extra = life.copies ? 3U : 1U;  // the best, the one being copied, and the newest that is copied
  require(ledger.complete.size() <= std::max<std::size_t>(life.snapshots_kept, 1) + extra,
          "too many snapshots are kept");
  for (const auto id : ledger.complete) {
    if (id > ledger.base && id.timeline != ledger.timeline) {
      throw Violation(named(id) + " is called complete on timeline " + std::to_string(ledger.timeline));
    }
  }
  require(!ledger.best || is_listed(ledger, *ledger.best), "the best snapshot is none of the complete ones");
}

void check_stored(const LifeSpec& life, const Disks& disks, SnapshotId id,
                  const std::function<bool(const Disk&)>& is_fit, const std::function<ChunkValue(ChunkId)>& expected) {
  for (ChunkId chunk = 0; chunk < life.statistics(); ++chunk) {
    const auto& disk = disks.present[life.chunks[chunk].lane / life.lanes];
    if (!is_fit(disk)) {
      continue;
    }
    const auto* value = disk.durable(id, chunk);
    if (value == nullptr) {
      throw Violation(named(id) + " is called complete, but chunk " + std::to_string(chunk) + " is not durable");
    }
    if (!(*value == expected(chunk))) {
      throw Violation("chunk " + std::to_string(chunk) + " of " + named(id) +
                      ", which is complete, differs from the reference");
    }
  }
}

void check_deletion(const Ledger& durable, std::uint32_t shard, SnapshotId id) {
  if (durable.complete.empty() || is_listed(durable, id)) {
    throw Violation("shard " + std::to_string(shard) + " deletes " + named(id) + ", which the durable ledger lists");
  }
  require(id < durable.complete.back(), "a shard deletes a snapshot that may still become the newest complete one");
}

void check_claims(const LifeSpec& life, const Disks& disks, const Ledger& durable, const LaneLife& lane,
                  const LaneReport& report) {
  for (const auto id : report.held) {
    for (ChunkId chunk = 0; chunk < life.statistics(); ++chunk) {
      if (life.chunks[chunk].lane == lane.lane && disk_of(life, disks, lane).durable(id, chunk) == nullptr &&
          id >= durable.complete.back()) {
        throw Violation("lane " + std::to_string(lane.lane) + " says that it holds " + named(id) + ", but chunk " +
                        std::to_string(chunk) + " is not durable");
      }
    }
  }
}

// ---- the end

void check_end(const Ledger& before, const Ledger& ledger) {
  if (!ledger.finished) {
    return require(!before.finished, "the end is taken back");
  }
  require(!before.finished || before.finished == ledger.finished, "the end recorded twice");
  require(is_listed(ledger, *ledger.finished), "the end is no complete snapshot");
}

void check_end_recorded(const LifeSpec& life, const Disks& disks, const Ledger& durable, const LaneLife& lane,
                        SnapshotId end) {
  require(durable.finished == end, "a shard records the end before the ledger does, or another end");
  for (ChunkId chunk = 0; chunk < life.statistics(); ++chunk) {
    require(life.chunks[chunk].lane != lane.lane || disk_of(life, disks, lane).durable(end, chunk) != nullptr,
            "a shard records an end of which it has nothing");
  }
}

}  // namespace ballast::simulation
