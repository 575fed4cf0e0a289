// Whose the copies of a run are. A run's id is in its ledger, and is copied with the run's folder: two jobs may then go
// on from one ledger, each with snapshots of its own under the same names. So each life of the lead claims the run's
// name in the place before anything is copied or removed under it:
//
//   claim := run "/claims/" hex16(life)        written first, and then all claims are listed
//   hold  := run "/holds/" hex16(life)         written where no other claim was found than of lives before, by the
//   ledger
//
// Of two that claim at once at least one finds the other, and leaves. Shard 0 does this; the others copy when they find
// the hold, and so nothing where their place is another than shard 0's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/copies/place.h"

namespace ballast {

using LeadLife = std::uint64_t;

enum class Claimed : std::uint8_t {
  held,
  taken,  // by a life that is none of `before`; nothing of this one is left there
};

// Claims the run's objects, whose names begin with `run`, for the life. Again and again as it likes.
StoreResult<Claimed> claim(CopyPlace& place, const std::string& run, LeadLife life,
                           const std::vector<LeadLife>& before);
StoreResult<bool> is_held(CopyPlace& place, const std::string& run, LeadLife life);

}  // namespace ballast
