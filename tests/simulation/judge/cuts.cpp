#include "tests/simulation/judge/cuts.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void CutsJudge::planned(const Plan& plan) const {
  const bool is_recorded = durable_.timeline == given_.timeline && durable_.cut >= given_.cut;
  require(
      !life_.journaled() || is_recorded || plan.timeline != given_.timeline || plan.until <= life_.updates(*given_.cut),
      "a plan goes beyond a cut that is being recorded");
}

void CutsJudge::confirmed(const Confirm& confirm) const {
  require(!confirm.resumes || confirm.timeline != given_.timeline || confirm.cut >= given_.cut,
          "a life that comes back is told an older cut than the newest");
}

void CutsJudge::ledger_durable(const ItemHistories& histories, const Disks& disks, const Ledger& ledger) {
  if (!life_.journaled()) {
    return;
  }
  require(ledger.cut.has_value() && *ledger.cut >= ledger.base.step, "the ledger has no cut from the base on");
  require(ledger.rollbacks.below_cut == durable_.rollbacks.below_cut || life_.faults.lying_disk,
          "a shard comes back with less than a cut, and no disk lies");
  const bool is_same_timeline = ledger.timeline == durable_.timeline;
  require(!is_same_timeline || *ledger.cut >= *durable_.cut, "a cut is taken back");
  const bool is_news = is_same_timeline && *ledger.cut > *durable_.cut;
  durable_ = ledger;
  for (const auto step : ledger.kept) {
    require(step <= *ledger.cut, "a snapshot is ordered of a step that is no cut yet");
    ordered_.insert({ledger.timeline, step});
  }
  if (is_news) {
    const auto& known = histories.of(ledger.timeline);
    for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
      check_chunk(known.chunks[chunk], disks.present[life_.chunks[chunk].lane / life_.lanes], chunk);
    }
  }
}

void CutsJudge::check_chunk(const ItemHistories::Chunk& known, const Disk& disk, ChunkId chunk) const {
  const auto before = life_.updates(*durable_.cut);
  const auto what =
      "the ledger calls step " + std::to_string(*durable_.cut) + " a cut, but chunk " + std::to_string(chunk);
  const bool is_exact = known.entries.size() == before &&
                        std::ranges::all_of(known.entries, [&](const auto& entry) { return entry.item < before; });
  if (!is_exact) {
    throw Violation(what + " has others than the items before it");
  }
  const auto own = known.entries.begin() + static_cast<std::ptrdiff_t>(life_.updates(durable_.base.step));
  const bool is_synced =
      disk.journal.timeline != durable_.timeline ||
      std::all_of(own, known.entries.end(), [&](const auto& entry) { return entry.sequence <= disk.journal.synced; });
  if (!is_synced && !life_.faults.lying_disk) {
    throw Violation(what + " has items that are not synced");
  }
}

void CutsJudge::taken(SnapshotId id) const {
  require(!life_.journaled() || ordered_.contains(id), "a snapshot is taken that no durable ledger has ordered");
}

void CutsJudge::reported(const LaneLife& lane, const LaneReport& report) const {
  if (!life_.journaled() || !report.serving || report.timeline != durable_.timeline) {
    return;
  }
  const auto& covered = report.items.covered;
  const auto floor = covered.empty() || covered.front().begin > 0 ? 0 : covered.front().end;
  if (floor < life_.updates(*durable_.cut)) {
    throw Violation("lane " + std::to_string(lane.lane) + " serves with items before " + std::to_string(floor) +
                    ", and has lost some of those before step " + std::to_string(*durable_.cut) +
                    ", which the ledger calls a cut");
  }
}

}  // namespace ballast::simulation
