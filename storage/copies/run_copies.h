// The copies of one run that its own servers go on from, when their disks are lost: each shard gets its part, shard 0
// the lead's ledger as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "storage/copies/format.h"
#include "storage/copies/place.h"
#include "storage/store/shard_store.h"

namespace ballast {

// What a server is, and whose copies it means.
struct OwnCopies {
  Identity identity;  // of its database
  RunId run = 0;
  std::size_t chunks = 0;  // of each snapshot in this shard
};

// Whole sets of the run, ascending.
StoreResult<std::vector<CopySet>> whole_sets(CopyPlace& place, const OwnCopies& own);

// How a part was got.
struct FetchedPart {
  enum class Outcome : std::uint8_t {
    stored,       // it is durable, and sealed
    useless,      // there is none in the place, or what is there is damaged
    unreachable,  // the place did not answer, or the key is not at hand: the same may work later
    refused,      // by the database
    unwanted,
  };
  Outcome outcome = Outcome::stored;
  StoreStatus status;  // why not
};

// Gets the shard's part of a snapshot into its database. Until all of it is there, and was checked, nothing says that
// the database has it. One that is cut short is begun anew. `wanted` is asked between records.
FetchedPart fetch_part(CopyPlace& place, const OwnCopies& own, const SnapshotId& snapshot, ShardStore& store,
                       const std::function<bool()>& wanted);

struct RestoredLedger {
  SnapshotId snapshot;
  Timeline timeline = 0;                 // from which the ledger goes on
  std::vector<std::string> passed_over;  // newer sets that could not be used, each with the reason
};

// Of shard 0, whose database has no ledger: the ledger of the newest whole set that is undamaged, and shard 0's part of
// its snapshot. None: the run has left nothing in the place, and has not begun. `missing`: it has begun, and no set is
// of use.
//
// Timelines that others may know of, workers for one, may have begun since the copy was made. So the ledger goes on
// from one that is further ahead than any run comes between two such losses, and no number is given twice. A mark in
// the place says so first: who restores again, or still goes on under the name, knows it by that. `wanted` is asked
// between records; `io` once it is not. `place_number`: what tells the place from another in the ledger. `chance`: any
// number, lest two who restore at one time come to one.
StoreResult<std::optional<RestoredLedger>> restore_ledger(CopyPlace& place, const OwnCopies& own,
                                                          std::uint64_t place_number, std::uint64_t chance,
                                                          ShardStore& store, const std::function<bool()>& wanted);

// Of shard 0, whose ledger is of no run, because all databases were restored by hand (`ballast restore`): the run's
// name is taken as by restore_ledger(), and the ledger, whose snapshots stay, goes on from a timeline that is as far
// ahead. Without that all that lies there would be another job's. Nothing is done where nothing lies there.
StoreStatus take_name(CopyPlace& place, const OwnCopies& own, std::uint64_t place_number, std::uint64_t chance,
                      ShardStore& store);

}  // namespace ballast
