#include "tests/simulation/judge/copies.h"

#include <algorithm>

#include "tests/simulation/judge/shown.h"
#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void CopiesJudge::ledger_durable(const Disks& disks, const CopyPlace& place, const Ledger& before, const Ledger& after,
                                 Micros now) {
  const auto& is = after.copies;
  const auto was = state_before(place, before.copies, is);
  require(is.run != 0 && (was.run == 0 || was.run == is.run), "a run has no id, or another one than before");
  require(is.named == SnapshotId{} || is_listed(after, is.named), "a snapshot is to be copied that is not kept");
  require(is.complete == SnapshotId{} || is_listed(after, is.complete),
          "the newest snapshot that is copied is not kept");
  if (!life_.copies) {
    return require(is.named == SnapshotId{}, "a job without copies names a snapshot for copying");
  }
  const bool goes_back =
      after.timeline > before.timeline && !before.complete.empty() && after.base < before.complete.back();
  if (goes_back) {
    check_gone_back(place, was, after);
    named_on_ = after.timeline;
    return;
  }
  if (is.complete != was.complete) {
    require(is.complete == was.named && is.complete > was.complete, "a snapshot is called copied that was not named");
    check_complete(disks, place, is);
    facts_.note(Fact::copied);
    facts_.note(Fact::copy_outlived, named_on_ < before.timeline);
  }
  const bool is_late = may_be_given_up(now);
  if (after.finished && !before.finished) {
    ended_late_ = is_late;
  }
  if (is.named == was.named) {
    return;
  }
  if (was.named != SnapshotId{} && was.named != is.complete) {
    require(is.named > was.named, "a snapshot is given up for an older one, or for none");
    require(is_late, "a snapshot that is to be copied is given up too early");
    facts_.note(Fact::copy_dropped);
  }
  require(is.named == SnapshotId{} || is.named > newest_named_, "an older snapshot is named for copying again");
  newest_named_ = std::max(newest_named_, is.named);
  named_at_ = now;
  named_on_ = after.timeline;
}

// What is named, or copied, goes with the snapshots that are not kept. What the job goes on from, if it is a copy, is
// the newest.
void CopiesJudge::check_gone_back(const CopyPlace& place, const CopyState& was, const Ledger& after) const {
  const auto& is = after.copies;
  require(is.named == SnapshotId{} || is.named == was.named, "a snapshot is named for copying as the job goes back");
  require(is.complete == was.complete || is.complete == SnapshotId{} ||
              (is.complete == after.base && place.is_complete(is.run, is.complete)),
          "a job goes back, and calls something copied that is not");
}

// Under another name all begins anew.
CopyState CopiesJudge::state_before(const CopyPlace& place, const CopyState& was, const CopyState& is) {
  if (was.run == is.run || !place.is_taken(was.run)) {
    return was;
  }
  require(!place.is_taken(is.run), "a run takes a name that is another job's");
  facts_.note(Fact::copies_renamed);
  newest_named_ = {};
  CopyState none;
  none.run = is.run;
  return none;
}

// Whether what is named was named when all faults were over, with whatever they had left behind, and nobody is gone
// for good. Copying needs a part of patience only.
bool CopiesJudge::is_undisturbed() const {
  const auto& faults = life_.faults;
  const auto volume_away = faults.lost_volume > 0 ? Faults::kVolumeAway : 0;
  const auto longest = std::max({faults.shard_pause, faults.lead_pause, faults.cut, faults.away, volume_away});
  return !faults.copy_stuck && !faults.death && named_at_ > faults.until + longest;
}

// By a clock that runs twice as fast at most; the writing of the ledger takes its time.
bool CopiesJudge::may_be_given_up(Micros now) const {
  return !is_undisturbed() && 2 * (now - named_at_ + 3 * life_.storage_high) > life_.copy_patience;
}

// As the shards' disks have it, which are looked at where the snapshot becomes complete.
void CopiesJudge::check_complete(const Disks& disks, const CopyPlace& place, const CopyState& copies) const {
  for (ChunkId chunk = 0; chunk < life_.statistics(); ++chunk) {
    const auto shard = life_.chunks[chunk].lane / life_.lanes;
    const auto* set = place.find(copies.run, copies.complete);
    require(set != nullptr && set->contains(shard) && set->at(shard).contains(chunk),
            "a snapshot is called copied, but a part of it is not in the place");
    const auto* value = disks.present[shard].durable(copies.complete, chunk);
    require(disks.present[shard].was_lost || (value != nullptr && *value == set->at(shard).at(chunk)),
            "a copy differs from what it is the copy of");
  }
}

void CopiesJudge::removes(const Ledger& durable, RunId run, SnapshotId id) const {
  if (run != durable.copies.run) {
    return;
  }
  require(id != durable.copies.complete, "the newest snapshot that is copied is removed from the place");
  require(id != durable.copies.named, "what is being copied is removed from the place");
}

void CopiesJudge::finished_well(const CopyPlace& place, const Ledger& durable) const {
  require(ended_late_ || durable.copies.complete == durable.finished,
          "the job ends before its last snapshot is copied");
  require(durable.copies.complete == SnapshotId{} || place.is_complete(durable.copies.run, durable.copies.complete),
          "the job ends without the copy that it says to have");
}

void CopiesJudge::stopped_well(const Ledger& durable, Micros now) const {
  const auto newest = durable.complete.back();
  require(newest == SnapshotId{} || newest == durable.copies.complete || may_be_given_up(now),
          "a stop ends with patience left, and its snapshot is not copied");
}

}  // namespace ballast::simulation
