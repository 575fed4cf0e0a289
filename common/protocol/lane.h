// A lane: the owner of some chunks of one shard. Collects rounds or single items, applies them, serves the weights.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "common/protocol/covered_items.h"
#include "common/protocol/factor_plan.h"
#include "common/protocol/ids.h"
#include "common/protocol/lane_sessions.h"
#include "common/protocol/lane_snapshots.h"
#include "common/protocol/lane_statistics.h"
#include "common/protocol/messages.h"
#include "common/protocol/round.h"

namespace ballast {

struct LaneChunk {
  ChunkId id = 0;
  std::uint64_t bytes = 0;
  bool statistics = false;
};

// Where each item is an update of its own, instead of all slots of a step together (modes async and ssp).
struct LedgeredApply {
  std::uint32_t staleness_bound = 0;  // updates; 0: none
  bool damped = false;                // the step's size is divided by the staleness
  bool skips_non_finite = false;      // instead of waiting for the lead to end the job
  bool journaled = false;             // an update is applied once it is committed to the shard's journal
};

struct LaneConfig {
  LaneId id;
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;
  Incarnation incarnation = 1;
  DatabaseLife database;         // the shard's, and which of its lives this is
  std::vector<SnapshotId> held;  // in it, ascending, of which all of the shard's part is durable
  Slot slots = 1;
  Step steps = 1;  // of the whole job
  std::vector<LaneChunk> chunks;
  Timeline last_timeline = 0;  // that the shard's database knows of
  std::optional<LedgeredApply> ledgered;
  std::vector<ShardLife> lives;  // in last_timeline, this one last; empty if there is nothing to go on with
  std::string spec_digest;
  std::string layout_digest;
  std::string address;
  std::uint64_t credit_bytes = 64U << 20;        // each session's unreceipted payload bytes
  std::uint64_t reply_window_bytes = 16U << 20;  // weights handed to the transport and not yet sent, per session
  Micros report_every = 50'000;                  // to the lead, while something changes
  Micros idle_report_every = 200'000;            // otherwise
  std::string initial_weights;                   // digest of the file that this life read them from; empty: none
  Micros lead_silence = 600'000'000;             // without a word from the lead for so long the lane stops
  std::uint64_t event_bytes = 8U << 20U;         // of updates applied for one event; the rest waits for GoOn
  std::uint32_t max_sessions = kMaxSessions;     // at most so many; further ones are refused
  Micros session_memory = 60'000'000;            // a session unseen for so long may lose its place to a new one
};

namespace lane {

// ---- events

struct FromWorker {
  SessionId session = 0;
  const Message* message = nullptr;  // never null; valid during the call
  PayloadId payload = kNoPayload;    // of a Push: the lane takes it over
  std::uint64_t payload_bytes = 0;
};
struct FromLead {
  const Message* message = nullptr;
};
struct Tick {
  Micros now = 0;
};
// What an earlier event left to do has its turn: said again and again while has_more(), between other events.
struct GoOn {};
// The timeline is durable and the weights of its base are in place.
struct Begun {
  Timeline timeline = 0;
};
// What a Measure asked for.
struct Measured {
  ChunkMeasure measure;  // without a slot
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
// An update that was found in the journal and is applied.
struct Recovered {
  ChunkId chunk = 0;
  ItemId item = 0;
  StepStatistics statistics;  // of the statistics chunk: what the item brought
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
// The transport has let go of so many bytes of weights sent to a session.
struct RepliesReleased {
  SessionId session = 0;
  std::uint64_t bytes = 0;
};
// The statistics chunk's root, read after its Apply.
struct StatisticsRead {
  StepStatistics statistics;
};
using Event =
    std::variant<FromWorker, FromLead, Tick, GoOn, Begun, Measured, SnapshotDurable, SnapshotFailed, FinishRecorded,
                 Trouble, StorageFailed, RepliesReleased, StatisticsRead, Committed, Resumed, Copying>;

// ---- actions, to be carried out in order

struct SendToWorker {
  SessionId session = 0;
  Message message;
};
// Weights of (header.chunk, header.version), whose buffer must not be written until the transport lets go of it; then
// the shell says RepliesReleased with `bytes`.
struct SendWeights {
  SessionId session = 0;
  Weights header;
  std::uint64_t bytes = 0;
};
struct SendToLead {
  Message message;
};
struct Sum {
  Join join;
  ChunkId chunk = 0;
  bool last = false;  // what comes of it is the root, and a Measure of it follows
};
struct Drop {
  PayloadId payload = kNoPayload;
};
// Read the root, whose summation is complete, or a single item's contribution; then say Measured, before any other
// event.
struct Measure {
  ChunkId chunk = 0;
  Step step = 0;
  PayloadId root = kNoPayload;
};
// Turns `version` of the chunk into the next one, written into a buffer that no reply references; `version` stays, the
// one before it goes. Consumes the root. A skipped update leaves weights and state as they are.
struct Apply {
  ChunkId chunk = 0;
  bool statistics = false;  // answer with StatisticsRead
  Step step = 0;            // whose gradient it is
  Version version = 0;
  PayloadId root = kNoPayload;
  StepFactors factors;
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
// Make the timeline durable, put the base's weights and state in place, then say Begun. What is being written of older
// timelines' snapshots is given up.
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
// Snapshots older than the newest of these, and not among them, may be deleted.
struct Retain {
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
using Action = std::variant<SendToWorker, SendWeights, SendToLead, Sum, Drop, Measure, Apply, Append, Begin, Resume,
                            TakeSnapshot, SealSnapshot, Retain, Copy, RecordFinish, Stop>;
using Actions = std::vector<Action>;

}  // namespace lane

struct LaneCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;  // payloads that a containing node replaced
  std::uint64_t refused = 0;
  std::uint64_t stale = 0;
  ReplyCounters replies;
  std::uint64_t waited_for_factors = 0;
  StalenessCounts staleness;  // where each item is an update of its own
};

// Invariants:
//   1. in rounds every chunk is at open_step() or open_step() + 1;
//   2. a receipt is sent only for work that is covered or whose step is closed;
//   3. a gradient that is not finite is never applied: its step is skipped by the lead's word, or waits;
//   4. where each item is an update of its own, no chunk applies one twice, nor one whose weights are older than the
//      bound, nor one of a step beyond the plan;
//   5. in a journaled job what is served, and what has a receipt, is committed.
// Pure: no I/O, clock, thread or log. Not thread-safe.
class Lane {
 public:
  explicit Lane(LaneConfig config);

  lane::Actions step(const lane::Event& event);

  [[nodiscard]] LaneCounters counters() const;
  [[nodiscard]] Step open_step() const { return open_step_; }
  [[nodiscard]] Timeline timeline() const { return timeline_; }
  [[nodiscard]] bool serving() const { return serving_; }
  // Where each item is an update of its own: from the first on without a gap, by every chunk.
  [[nodiscard]] ItemId covered_items() const { return items_.floor(); }
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] std::size_t deferred_replies() const { return sessions_.deferred(); }
  // Updates that are decided, or committed, are still to be applied: a plan may decide on all chunks at once, and a
  // lane that applied gigabytes for one event would be silent for as long.
  [[nodiscard]] bool has_more() const;
  // Held payloads; at most ceil(slots / 2) per chunk.
  [[nodiscard]] std::size_t held_payloads() const { return held_payloads_; }

 private:
  struct ChunkState {
    explicit ChunkState(const LaneChunk& chunk, Slot slots) : spec(chunk), round(slots) {}
    LaneChunk spec;
    Version version = 0;
    Round round;
    Slot fault = kNoSlot;                 // the first slot of the round that is said to be not finite
    std::optional<ChunkMeasure> measure;  // of the round, which is covered, or of an item that cannot be applied
    bool waits = false;                   // covered, and counted in waiting_chunks_
    Version accepted = 0;                 // the version after all updates that are pending
    ItemId reached = 0;                   // the first item beyond all that are accepted
    CoveredItems items;                   // applied
  };
  // An item's contribution that is accepted and not applied yet, or is being looked at.
  struct Update {
    std::uint64_t ticket = 0;
    ChunkId chunk = 0;
    ItemId item = 0;
    Version version = 0;
    StepFactors factors;
    PayloadId payload = kNoPayload;
    std::vector<std::pair<SessionId, Push>> senders;  // who waits for its receipt; the first one's it is
  };

  void on(const lane::FromWorker& event);
  void on(const lane::FromLead& event);
  void on(const lane::Tick& event);
  void on(const lane::GoOn& event);
  void on(const lane::Begun& event);
  void on(const lane::Measured& event);
  void on(const lane::SnapshotDurable& event);
  void on(const lane::SnapshotFailed& event);
  void on(const lane::FinishRecorded& event);
  void on(const lane::Trouble& event);
  void on(const lane::StorageFailed& event);
  void on(const lane::RepliesReleased& event);
  void on(const lane::StatisticsRead& event);
  void on(const lane::Committed& event);
  void on(const lane::Resumed& event);
  void on(const lane::Copying& event);

  void on_hello(SessionId session, const LaneHello& hello);
  void on_pull(SessionId session, const Pull& pull);
  void on_push(const lane::FromWorker& event, const Push& push);
  void on_confirm(const Confirm& confirm);
  void on_plan(const Plan& plan);
  void on_refused(const Refused& refused);
  void on_finish(const Finish& finish);

  bool check_timeline(SessionId session, Timeline timeline);
  bool check_push(const lane::FromWorker& event, const Push& push);
  void send(const std::optional<WeightsReply>& reply);
  void measure_if_covered(ChunkState& chunk);
  bool apply_if_decided(ChunkState& chunk);
  void apply_decided();
  void wait_for_decision(ChunkState& chunk);
  void follow_copies(const CopyState& copies);
  void take_snapshot_orders(const Plan& plan);
  void take_snapshot(const ChunkState& chunk);
  void forget_rounds();
  void account(const ChunkState& chunk);
  void answer_waiting(const ChunkState& chunk);
  void advance_open_step();
  void report();
  void say_hello();
  void report_if_at_barrier();
  void refuse(SessionId session, RefusalCode code, std::string text);
  void stop(std::string failure);
  [[nodiscard]] ServedChunk served(const ChunkState& chunk) const;
  [[nodiscard]] LaneReport state_report() const;
  [[nodiscard]] bool lead_is_away() const;
  [[nodiscard]] SlotSet missing() const;
  ChunkState* find(ChunkId id);

  // lane_ledgered.cpp: each item an update of its own
  bool check_item(const lane::FromWorker& event, const Push& push, const ChunkState& chunk);
  void on_item(const lane::FromWorker& event, const Push& push, ChunkState& chunk);
  void on_item_measured(const ChunkMeasure& measure);
  void accept(Update update);
  void commit(std::uint64_t ticket);
  void apply_committed();
  void apply_item(Update& update);
  void answer(const std::pair<SessionId, Push>& sender, ReceiptOutcome outcome);
  void cover(ChunkState& chunk, ItemId item);
  void give_up_orders(const ChunkState& chunk, ItemId item);
  void advance_items();
  void note_marks(const std::vector<JournalMark>& marks);
  void begin_items(Step base);
  [[nodiscard]] bool is_ledgered() const { return config_.ledgered.has_value(); }
  // Of a version, or of the updates of so many steps.
  [[nodiscard]] Version updates(Step step) const { return is_ledgered() ? step * config_.slots : step; }
  // The step that the chunk is at: all items of the steps before are covered, and none of it.
  [[nodiscard]] std::optional<Step> at_step(const ChunkState& chunk) const;
  [[nodiscard]] bool is_past(const ChunkState& chunk, Step step) const;

  template <typename Body>
  void emit(Body&& body) {
    actions_.emplace_back(std::forward<Body>(body));
  }

  LaneConfig config_;
  std::vector<ChunkState> chunks_;
  std::unordered_map<ChunkId, std::size_t> index_;
  LaneSessions sessions_;
  LaneSnapshots snapshots_;
  FactorPlan plan_;
  LaneStatistics statistics_;
  lane::Actions actions_;
  LaneCounters counters_;

  Timeline timeline_ = 0;
  Timeline beginning_ = 0;
  SnapshotId base_;
  bool serving_ = false;
  Step open_step_ = 0;
  std::size_t behind_ = 0;          // chunks still at open_step_
  std::size_t next_decided_ = 0;    // chunks_ from here on may be decided by a plan and not applied yet
  std::size_t waiting_chunks_ = 0;  // covered ones of open_step_ that have no decision
  std::string side_trouble_;        // with anything but the lane's own snapshots
  bool told_side_trouble_ = false;
  CopyState copies_;  // the newest that the lead has said
  CopyProgress copy_;
  std::size_t held_payloads_ = 0;

  std::vector<ShardLife> lives_;  // of this shard in the timeline it serves, or would resume
  bool resuming_ = false;
  std::optional<Update> looked_at_;  // is being measured
  std::deque<Update> pending_;       // in the order of their tickets
  std::uint64_t first_ticket_ = 1;   // of the timeline
  std::uint64_t next_ticket_ = 1;
  std::uint64_t committed_ticket_ = 0;            // all up to it
  std::uint64_t journal_sequence_ = 0;            // committed
  CoveredItems items_;                            // by every chunk
  std::map<ItemId, std::size_t> partly_covered_;  // by so many chunks
  std::vector<JournalMark> marks_;

  Micros now_ = 0;
  Micros reported_at_ = 0;
  Micros lead_heard_at_ = 0;
  bool lead_heard_ = false;  // since the last tick
  bool lead_known_ = false;
  bool changed_ = false;  // since the last report
  bool finishing_ = false;
  bool leaving_ = false;
  bool stopped_ = false;
  std::string failure_;
  std::uint64_t report_sequence_ = 0;
};

}  // namespace ballast
