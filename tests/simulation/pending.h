// What a process has begun and not finished: plain data, so that it can be copied with its shell, and whoever runs the
// shell says when it happens, and before what else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/lane.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "protocol/worker/worker.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

// How long something takes, and behind what it stands in line. A search over all orders needs the line alone.
struct Wait {
  enum class Line : std::uint8_t { none, thread, disk };  // the process's own thread; its shard's disk

  Line line = Line::none;
  Micros least = 0;
  Micros chance = 0;  // and by chance up to so much more
};
constexpr Wait within(Micros most, Micros least = 0) { return {Wait::Line::none, least, most}; }
constexpr Wait after(Micros span) { return {Wait::Line::none, span, 0}; }
constexpr Wait computing(Micros span) { return {Wait::Line::thread, span, 0}; }
constexpr Wait on_disk(Micros most) { return {Wait::Line::disk, 0, most}; }

// ---- a lead's

struct LedgerWrite {
  LedgerChange change;
};
// The lead hears that it is written.
struct LedgerAnswer {};

// Its turn is over.
struct LeadSettles {};

// What was sent to a session found nobody.
struct Unreached {
  SessionId session = 0;
};

using LeadPending = std::variant<LedgerWrite, LedgerAnswer, LeadSettles, Unreached>;

// ---- a lane's

// It goes on with what an event has left to do.
struct LaneGoesOn {};
// The transport lets go of a reply.
struct ReplyRelease {
  std::uint64_t reply = 0;
};
struct TimelineRecord {
  Timeline timeline = 0;
  SnapshotId base;
};
// The base's weights are put in place.
struct BaseLoad {
  Timeline timeline = 0;
  SnapshotId base;
};
// Of a base that the disk lacks, from the copies: its chunks are written; then they are durable, and the shard holds
// it.
struct BaseFetch {
  Timeline timeline = 0;
  SnapshotId base;
};
struct BaseSeal {
  Timeline timeline = 0;
  SnapshotId base;
};
struct ChunkWrite {
  SnapshotId id;
  ChunkId chunk = 0;
  ChunkValue value;
};
struct SnapshotSeal {
  SnapshotId id;
};
struct SnapshotDeletion {
  Timeline timeline = 0;
  std::vector<SnapshotId> keep;
};
struct CopyAttempt {
  RunId run = 0;
  SnapshotId named;
  std::uint32_t failures = 0;
};
struct CopyAnswer {
  CopyProgress progress;
};
struct FinishRecord {
  SnapshotId end;
};

// The shard's journal: a group is written, then committed, and perhaps synced later.
struct GroupWrite {
  Timeline timeline = 0;
  std::size_t through = 0;
};
struct GroupCommit {
  Timeline timeline = 0;
  std::size_t through = 0;
  bool syncs = false;
};
struct JournalSync {
  Timeline timeline = 0;
  std::size_t through = 0;
};
// For a lane that has all items before a cut.
struct CutSync {
  Timeline timeline = 0;
  ItemId before = 0;
};
// A lane hears how much of its own is committed.
struct CommitAnswer {
  std::uint64_t ticket = 0;
  std::uint64_t sequence = 0;
};
// A life that goes on within its timeline records itself, and then reads the journal.
struct LifeRecord {
  Timeline timeline = 0;
  SnapshotId base;
};
struct JournalReading {
  Timeline timeline = 0;
  SnapshotId base;
};

using LanePending = std::variant<LaneGoesOn, ReplyRelease, TimelineRecord, BaseLoad, BaseFetch, BaseSeal, ChunkWrite,
                                 SnapshotSeal, SnapshotDeletion, CopyAttempt, CopyAnswer, FinishRecord, GroupWrite,
                                 GroupCommit, JournalSync, CutSync, CommitAnswer, LifeRecord, JournalReading>;

// ---- a worker's

struct Preparation {
  WorkerLayout layout;
};
// A node's gradient of one chunk is computed.
struct GradientComputed {
  Step step = 0;
  Node node;
  ChunkId chunk = 0;
  Payload payload;
  std::uint32_t arena = 0;
  bool is_last = false;
};
// It goes on with its next slot, or is done.
struct NextSlot {};
// A chunk's part of the gradient of the slot in hand is computed.
struct ChunkComputed {
  ChunkId chunk = 0;
};
struct ComputationEnd {
  Step step = 0;
};
struct EvaluationEnd {
  Evaluation evaluation;
};

using WorkerPending =
    std::variant<Preparation, NextSlot, ChunkComputed, GradientComputed, ComputationEnd, EvaluationEnd>;

using Pending = std::variant<LeadPending, LanePending, WorkerPending>;

}  // namespace ballast::simulation
