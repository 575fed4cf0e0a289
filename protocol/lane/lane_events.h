// What a lane is told, and what it wants done.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/round.h"
#include "protocol/messages.h"

namespace ballast {

namespace lane {

// ---- events

struct FromWorker {
  SessionId session = 0;
  const Message* message = nullptr;  // never null; valid during the call
  PayloadId payload = kNoPayload;    // of a Push: the lane takes it over
  std::uint64_t payload_bytes = 0;
  ConnectionId connection = 0;  // over which it came: messages of one keep their order
  PayerId payer = 0;            // whose word the session's standing is: the key's, or without keys the address's
};
// Nothing more comes over the connection: it has ended, and all that came over it was handled.
struct ConnectionEnded {
  SessionId session = 0;
  ConnectionId connection = 0;
};
struct FromLead {
  const Message* message = nullptr;
};
struct Tick {
  Micros now = 0;
  Micros read_up_at = 0;  // when nothing was left to be read of what workers had sent; 0: not yet
};
// What an earlier event left to do has its turn: said again and again while has_more(), between other events.
struct GoOn {};
// The timeline is durable and the weights of its base are in place.
struct Begun {
  Timeline timeline = 0;
};
// What a Measure asked for. Whether that root is still of any use is the lane's to know.
struct Measured {
  ChunkMeasure measure;  // without a slot
  PayloadId root = kNoPayload;
  bool operator==(const Measured&) const = default;
};
struct SnapshotDurable {
  SnapshotId id;
};
// The snapshot could not be written. The lane goes on; nothing of it counts.
struct SnapshotFailed {
  SnapshotId id;
  std::string text;
};
struct FinishRecorded {};
// The updates of all Appends up to this ticket are committed to the journal: written and, if the job says so, synced.
struct Committed {
  std::uint64_t ticket = 0;
  std::uint64_t sequence = 0;  // of the journal, so far
};
// What a SyncJournal asked for is done.
struct JournalSynced {
  Timeline timeline = 0;
  ItemId before = 0;
};
// An update that was found in the journal and is applied.
struct Recovered {
  ChunkId chunk = 0;
  ItemId item = 0;
  StepStatistics statistics;  // of the statistics chunk: what the item brought
};
// What a Begin asked for cannot be: the shard's part of the base is not in its database, nor, undamaged, in the place
// of copies.
struct BaseMissing {
  Timeline timeline = 0;
  SnapshotId base;
  std::string text;
};
// Whole sets of copies of the job's run that are in the place now, ascending; or why that cannot be seen.
struct CopiesFound {
  std::vector<SnapshotId> sets;
  std::string trouble;
};
// What a Resume asked for: the chunks are at the snapshot of `from`, and the updates on top of it, in order.
struct Resumed {
  Timeline timeline = 0;
  Step from = 0;
  std::vector<Recovered> updates;
  std::vector<JournalMark> marks;  // the newest of each shard's life among the updates
  std::uint64_t sequence = 0;      // of the journal
};
// How far the shard is with what a Copy asked for.
struct Copying {
  CopyProgress progress;
};
// What goes wrong beside the training, e.g. with copies of snapshots; empty: nothing any more.
struct Trouble {
  std::string text;
};
// The shard cannot go on.
struct StorageFailed {
  std::string text;
};
// The transport has let go of the weights of that SendWeights.
struct ReplyReleased {
  std::uint64_t reply = 0;
};
// The statistics chunk's weights, as its Apply made them.
struct StatisticsRead {
  StepStatistics statistics;
  Timeline timeline = 0;  // of the Apply
};
// The server is told to end. All of its lanes are told.
struct Depart {};
using Event = std::variant<FromWorker, FromLead, Tick, GoOn, Begun, Measured, SnapshotDurable, SnapshotFailed,
                           FinishRecorded, Trouble, StorageFailed, ReplyReleased, StatisticsRead, Committed,
                           JournalSynced, Resumed, Copying, Depart, BaseMissing, CopiesFound, ConnectionEnded>;

// ---- actions, to be carried out in order

struct SendToWorker {
  SessionId session = 0;
  Message message;
};
// Weights of (header.chunk, header.version), or their average at it (header.averages), whose buffer must not be written
// until the transport lets go of it; then the shell says ReplyReleased with `reply`, also if nobody gets it.
struct SendWeights {
  SessionId session = 0;
  ConnectionId connection = 0;  // over this one and no other
  Weights header;
  std::uint64_t bytes = 0;
  std::uint64_t reply = 0;
};
struct SendToLead {
  Message message;
};
// End this connection of the session's, which may begin another one; then say ConnectionEnded.
struct DropConnection {
  SessionId session = 0;
  ConnectionId connection = 0;
};
struct Sum {
  Join join;
  ChunkId chunk = 0;
  bool last = false;  // what comes of it is the root, and a Measure of it follows
};
struct Drop {
  PayloadId payload = kNoPayload;
};
// Read the root, whose summation is complete, or a single item's contribution; then say Measured. A root that is
// dropped before it is read need not be.
struct Measure {
  ChunkId chunk = 0;
  Step step = 0;
  PayloadId root = kNoPayload;
  Prospect prospect = {};  // where the job measures updates
};
// Turns `version` of the chunk into the next one, written into a buffer that no reply references; `version` stays, the
// one before it goes. Consumes the root. A skipped update leaves weights and state as they are.
struct Apply {
  Timeline timeline = 0;
  ChunkId chunk = 0;
  bool statistics = false;  // answer with StatisticsRead
  Step step = 0;            // whose gradient it is
  Version version = 0;
  PayloadId root = kNoPayload;
  StepFactors factors;
  std::uint64_t staleness = 0;  // updates accepted since the version that the root was computed from
  Slot slot = 0;                // in item mode: the item's
};
// Append the update to the shard's journal; say Committed when it is. The payload stays until its Apply or Drop.
struct Append {
  std::uint64_t ticket = 0;  // increases by one
  ChunkId chunk = 0;
  ItemId item = 0;
  Version version = 0;  // of the chunk, that the update turns into the next one
  std::uint64_t staleness = 0;
  SessionId session = 0;
  StepFactors factors;
  std::vector<JournalMark> marks;
  PayloadId payload = kNoPayload;
};
// Sync the shard's journal with all that is committed, whatever the job says of syncs, which takes as long as the disk
// lets it; then say JournalSynced. All of the lane's items before `before` are among that.
struct SyncJournal {
  Timeline timeline = 0;
  ItemId before = 0;
};
// Make the timeline durable, put the base's weights and state in place, then say Begun. A base that the database lacks
// comes from the copies of the job's run, where it names one; BaseMissing if that cannot be. What is being written of
// older timelines' snapshots is given up.
struct Begin {
  Timeline timeline = 0;
  SnapshotId base;
};
// Make this life of the shard durable in its journal, put the snapshot `base`, which is complete by the lead's ledger,
// in place, and replay the journal on top of it; then say Resumed.
struct Resume {
  Timeline timeline = 0;
  SnapshotId base;
};
// Copy the chunk's newest version and its state, which later updates must not change any more, and write them.
struct TakeSnapshot {
  SnapshotId id;
  ChunkId chunk = 0;
};
// All of the lane's chunks were taken: make them durable, then say SnapshotDurable, or SnapshotFailed.
struct SealSnapshot {
  SnapshotId id;
};
// Snapshots older than the newest of these, and not among them, may be deleted, unless any lane of the shard begins a
// newer timeline: it may have gone back to one of them.
struct Retain {
  Timeline timeline = 0;
  std::vector<SnapshotId> keep;
};
// Copy the shard's part of the snapshot `named`, in place of what is being copied; of copies of this run that are older
// only whole sets are of use, and `complete` is one. Say Copying as it goes on. To lane 0 only.
struct Copy {
  CopyState copies;
};
// Make the word `finished` durable, then say FinishRecorded.
struct RecordFinish {
  SnapshotId end;
};
struct Stop {
  std::string failure;  // empty: the run ended well
};
// The server, which was told to end, may go as far as this lane is concerned, which has said its last word.
struct Leave {
  bool whole = false;  // the whole server, whatever its other lanes wait for
  std::string lost;    // it was out of patience: what that costs; empty: nothing
};
using Action =
    std::variant<SendToWorker, SendWeights, SendToLead, DropConnection, Sum, Drop, Measure, Apply, Append, SyncJournal,
                 Begin, Resume, TakeSnapshot, SealSnapshot, Retain, Copy, RecordFinish, Stop, Leave>;
using Actions = std::vector<Action>;

}  // namespace lane

}  // namespace ballast
