// From which snapshot all shards can go on: what a shard has lost may be in the place of copies.
#pragma once

#include <optional>

#include "protocol/ids.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"

namespace ballast {

// A copy is a snapshot that a shard can still reach: the base of a timeline is the newest snapshot that every shard
// holds or can get from there. Without a named run (durability.run) nothing can, and it is the newest complete one.
//
// A set of copies counts only if this run has copied some before under the name that the shard means, and has named
// none that is older: what is newer, or was there before, is another job's.
[[nodiscard]] bool may_go_on_from_copy(const Ledger& ledger, RunId run, SnapshotId id);

// Whether a shard that lacks the newest complete snapshot has another one to offer, here or in the place. Never the
// initial weights: a job that has come further does not begin anew by itself.
[[nodiscard]] bool has_another_base(const ShardHello& hello, const Ledger& ledger);

// All lanes are there. `remembered`: of earlier steps the lead has no statistics any more. None: there is none that all
// can reach.
[[nodiscard]] std::optional<SnapshotId> choose_base(const Ledger& ledger, const ShardRoster::Lanes& lanes,
                                                    Step remembered);

// Leaves in the ledger what all hold when they go on from `base`, which choose_base() gave.
void go_back_to(Ledger& ledger, SnapshotId base, const ShardRoster::Lanes& lanes);

}  // namespace ballast
