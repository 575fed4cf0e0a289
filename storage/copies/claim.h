// Whose the copies of a run are. A run's id is in its ledger, and is copied with the run's folder: two jobs may then go
// on from one ledger, each with snapshots of its own under the same names. So each life of the lead claims the run's
// name in the place before anything is copied or removed under it:
//
//   claim := run "/claims/" hex16(life)        written first, and then all that lies under the run's name is listed
//   hold  := run "/holds/" hex16(life)         written where the run's name is not another's
//   mark  := run "/restored/" hex16(timeline)  of a job that names its run: its ledger was restored, and goes on from
//                                              that timeline. No other has ever come so far
//
// It is another's where
//   1. a claim is found that is not of a life before, by the ledger: of two that claim at once at least one finds the
//      other, and leaves;
//   2. a snapshot is found that is newer than the ledger has ever named, or, before the life holds the name, than it
//      had named when the life began. The ledger names a snapshot before anybody copies it: so another job has copied
//      this one, which went on from the same ledger or a later state of it;
//   3. a mark is found that is ahead of the ledger's timeline: the run was restored elsewhere since.
// Shard 0 does this; the others copy when they find the hold, and so nothing where their place is another than shard
// 0's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "storage/copies/place.h"

namespace ballast {

using LeadLife = std::uint64_t;

// What the ledger says.
struct Claimant {
  LeadLife life = 0;
  std::vector<LeadLife> before;
  SnapshotId named_before;  // the newest that was named when the life began
  SnapshotId named;         // the newest
  Timeline timeline = 0;    // of the ledger
};

enum class Claimed : std::uint8_t {
  held,
  taken,  // by another job; nothing of this claimant is left there
};

// Claims the run's objects, whose names begin with `run`. Again and again as it likes. `io` also if the place does not
// list what was just written to it: nothing can be told from such a list.
StoreResult<Claimed> claim(CopyPlace& place, const std::string& run, const Claimant& claimant);
// A run whose ledger is lost, and is restored from its copies by the run's own shard 0.
struct TakenOver {
  Timeline timeline = 0;  // that its ledger is to go on from; the mark of it is in the place
  SnapshotId newest;      // of which anything is there
};
// Takes the run's name, and what is there, for the one who restores it: nobody else's claim or hold stays. `chance`:
// any number.
StoreResult<TakenOver> take_over(CopyPlace& place, const std::string& run, std::uint64_t chance);

// `no_key` where shard 0 encrypts by a key that is not at hand here, or one of both does not encrypt.
StoreResult<bool> is_held(CopyPlace& place, const std::string& run, LeadLife life);

}  // namespace ballast
