// Between lanes and the lead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages/parts.h"

namespace ballast {

// ---- lane to lead

// What a life of a shard that goes on with its journal has, once it is replayed.
struct Replayed {
  ItemId covered = 0;  // all chunks of the lane have all items before it
  Step cut = 0;        // that the lead has told it
  bool operator==(const Replayed&) const = default;
};

struct ShardHello {
  LaneId lane;
  std::uint32_t shards = 0;
  std::uint32_t lanes = 0;
  Incarnation incarnation = 0;
  DatabaseLife database;
  std::string spec_digest;
  std::string layout_digest;
  std::string initial_weights;  // digest of training.init_from's file, if this life of the shard has read it
  std::string address;          // where workers reach the lane
  Timeline timeline = 0;        // that the shard knows of: of its database, or that it serves
  Step open_step = 0;           // the oldest open step of the timeline it serves; 0: it serves none
  // The snapshots, ascending, of which all of the lane's chunks are durable; the weights before step 0 if they need not
  // be kept. The newest kMaxHeld.
  std::vector<SnapshotId> held = {};
  // In a journaled job: the shard's lives in `timeline`, oldest first, this one last. Empty if what the shard has of
  // the timeline cannot be gone on with. If they are more than kMaxShardLives the journal cannot list this one without
  // forgetting another: a new timeline is to begin.
  std::vector<ShardLife> lives = {};
  std::optional<Replayed> replayed = {};  // the second hello of a life that goes on: it serves when the lead says so
  // Of a job that names its run (durability.run), whose shards bring from copies what their disks have lost: the run.
  RunId run = 0;
  // Of this run's snapshots those of which there is a whole set of copies, ascending, as far as the shard has looked.
  // The newest kMaxCopied.
  std::vector<SnapshotId> copied = {};
  // Snapshots, ascending, of which this life has tried in vain to get the shard's part: it is neither here nor,
  // undamaged, in the place. The newest kMaxCopied.
  std::vector<SnapshotId> lost = {};
  std::string copies_trouble = {};  // why it cannot look; empty: it has looked, or needs not
  bool operator==(const ShardHello&) const = default;
};

struct SessionSlots {
  SessionId session = 0;
  std::uint64_t slots = 0;  // slots of closed rounds that this session was the first to bring
  bool operator==(const SessionSlots&) const = default;
};

// How stale contributions were when they were applied, and what became of the others, over a lane's chunks.
struct StalenessCounts {
  std::vector<std::uint64_t> counts;  // [0]: not at all; [i]: 2^(i-1) to 2^i - 1 updates
  std::uint64_t sum = 0;
  std::uint64_t largest = 0;
  std::uint64_t expired = 0;  // refused for good: too stale, or made from weights that the shard has lost
  std::uint64_t skipped = 0;  // of those counted: left out, for their gradient was not finite
  bool operator==(const StalenessCounts&) const = default;
};

// How far a shard is with its part of the snapshot that is named for copying.
struct CopyProgress {
  RunId run = 0;               // under whose name
  SnapshotId snapshot;         // {}: it copies none
  std::uint64_t bytes = 0;     // written by the attempt at hand
  std::uint32_t failures = 0;  // attempts that failed
  bool done = false;           // its part is durable in the place
  bool taken = false;          // another job than this one goes on under the run's name there: only of shard 0
  bool operator==(const CopyProgress&) const = default;
};

struct RoundReport {
  std::vector<std::uint64_t> missing;  // slots of open_step that some chunk lacks, 64 to a word
  Step reached = 0;                    // the newest version of a chunk
  // Whose contributions a chunk came to it by; some of them, if they are many.
  std::vector<SessionId> reached_by = {};
  // The first missing slot of the lowest open chunk, the only one that the lane waits for; kNoSlot: none, or it is not
  // told. And who in good standing offers it, or was called for it and is not late; some of them, if they are many.
  Slot wanted = kNoSlot;
  std::vector<SessionId> offered_by = {};
  // Sessions that are out of good standing here: they have let calls go unpaid, and owe payments. And those of them
  // whose calls were taken back twice without a payment between. Those that failed last, if they are many.
  std::vector<SessionId> out_of_standing = {};
  std::vector<SessionId> unpaying = {};
  bool operator==(const RoundReport&) const = default;
};

struct ItemReport {
  std::vector<ItemRange> covered;  // items that all of the lane's chunks cover, ascending; the first range begins at 0
  ItemId reached = 0;              // the first item beyond all that some chunk of the lane has accepted
  StalenessCounts staleness;
  std::vector<JournalMark> marks;  // the newest of each shard's life that came with contributions
  // In a journaled job: the journal is synced with all items before this one, at which the plan ends; 0: at none yet.
  ItemId synced = 0;
  bool operator==(const ItemReport&) const = default;
};

// How a lane stands: what both machines have, and what the job's own machine has; the other's part is empty. A field a
// fact, and more than 15 of them.
struct LaneReport {
  LaneId lane;
  Incarnation incarnation = 0;
  std::uint64_t sequence = 0;  // increases; an older report is ignored
  Timeline timeline = 0;
  bool serving = false;
  Step open_step = 0;                  // the oldest version among the lane's chunks
  Version planned = 0;                 // factors are known for the updates of versions before this one
  std::vector<ChunkMeasure> measures;  // of covered chunks that are not applied yet
  std::vector<SnapshotId> held;        // snapshots of this timeline of which all of the lane's chunks are durable
  std::vector<SnapshotId> writing;     // taken or being taken, and not durable yet
  std::vector<SnapshotId> failed;      // that could not be written; the job goes on without them
  CopyProgress copy;                   // only of a shard's lane 0
  std::string trouble;                 // why not, or what else is wrong though the job goes on
  std::vector<StepStatistics> statistics;
  std::vector<SessionSlots> slots_by_session;  // only of the lane that owns the statistics chunk
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;
  bool leaving = false;  // the lead's Finish arrived, and the end is durable here: this is the last word
  std::string failure;   // non-empty: the shard cannot go on
  RoundReport rounds = {};
  ItemReport items = {};
  LeadNumber plan = {};    // the newest that the lane follows
  bool departing = false;  // its server was told to end, and waits for leave; in a journaled job it is gone
  bool operator==(const LaneReport&) const = default;
};

// ---- lead to lane

// The timeline is durable in the ledger; addressed to one incarnation.
struct Confirm {
  Incarnation incarnation = 0;
  Timeline timeline = 0;
  SnapshotId base;
  bool resumes = false;  // go on with what the shard has of the timeline, instead of beginning it
  Step cut = 0;          // the newest of the timeline, durable or not
  bool serves = false;   // what the shard has replayed is not less than that
  bool operator==(const Confirm&) const = default;
};

// Which complete snapshots are copied to another place (durability.copy_to), one after the other. {}: none, for the
// initial weights are never copied.
struct CopyState {
  RunId run = 0;           // whose copies they are; part of their names
  SnapshotId named;        // every shard is to copy its part of it
  SnapshotId complete;     // the newest of which every shard has copied its part
  std::uint64_t life = 0;  // of the lead: the copies of a run are of one line of lives, told apart from a copied job's
  std::uint64_t turn = 0;  // increases with each other life and each other run: `complete` may be older again then
  bool operator==(const CopyState&) const = default;
};
// Of all that were ever named under the run's name.
inline SnapshotId newest_named(const CopyState& copies) { return std::max(copies.named, copies.complete); }

// The factors of the updates of versions [first, first + factors.size()), and which snapshots to take; also the lead's
// sign of life. A plan with a lower number than the newest is ignored. Where a step's factors depend on its gradients
// (norms, trust ratios, non-finite values), the plan ends before the first undecided step.
struct Plan {
  Timeline timeline = 0;
  Version first = 0;
  std::vector<StepFactors> factors;
  std::vector<Step> snapshots;   // steps, of now or later, before whose updates to take a snapshot
  std::vector<SnapshotId> keep;  // complete, by the durable ledger; older ones that are not listed may be deleted
  CopyState copies;              // by the durable ledger, too
  Step statistics_through = 0;   // statistics of steps before this one are durable
  Incarnation incarnation = 0;   // to whom
  LeadNumber number = {};        // increases with each other `until`
  // Updates of this version or later are not made, nor of items from this one on, whatever older plans said.
  Version until = std::numeric_limits<Version>::max();
  // Of version first + factors.size(), where its step is the first undecided one and lanes measure by it.
  std::optional<Prospect> prospect = {};
  // The server, which was told to end, may: all hold at the newest complete snapshot until its next life.
  bool may_depart = false;
  // Sessions of which nothing is taken any more: what they contributed no honest one can have. The newest kMaxBarred.
  std::vector<SessionId> barred = {};
  bool operator==(const Plan&) const = default;
};

}  // namespace ballast
