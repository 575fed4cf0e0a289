// The shell around a lane's core, as the real process has it, over symbolic payloads and a disk in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/lane/lane.h"
#include "tests/simulation/host.h"
#include "tests/simulation/judge/payments.h"
#include "tests/simulation/judge/turn.h"
#include "tests/simulation/strangers.h"
#include "tests/simulation/transitions.h"

namespace ballast::simulation {

// How long an update waits for readers.
inline constexpr Micros kKeptPatience = 20'000;

class LaneShell : public Process {
 public:
  // `database`: one of the two that the shard may have.
  LaneShell(World& world, ProcessId id, std::uint32_t lane, Incarnation incarnation, std::uint64_t database);

  void tick(Host& host, Micros clock);
  // `connection`: of a worker's; 0 from the lead.
  void receive(Host& host, ProcessId from, ConnectionId connection, const Message& message,
               const std::optional<Payload>& payload);
  void connection_ended(Host& host, ProcessId worker, ConnectionId connection);

  // Its server is told to end.
  void depart(Host& host);

  void carry_out(Host& host, const LanePending& what);
  // From a session whose hello, if it said one, was well; the message is not.
  void receive_strange(Host& host, SessionId session, bool says_hello, const StrangeMessage& message);
  // Whole roots of the next steps, of all of the lane's chunks or of one.
  void receive_roots(Host& host, SessionId session, std::uint32_t steps, bool of_all);

  [[nodiscard]] const Lane& core() const { return core_; }
  [[nodiscard]] const LaneLife& life() const { return life_; }
  [[nodiscard]] bool has_heard(ProcessId lead) const { return heard_ == lead; }
  void gather(LifeFacts& facts) const;

 private:
  // Where a chunk's weights lie. A buffer that a reply references is never written.
  struct Buffer {
    Expression value = 0;
    std::uint32_t references = 0;
    bool is_past = false;  // of another timeline
  };
  // Weights that the transport has not let go of.
  struct ReplyUnderWay {
    SessionId session = 0;
    ConnectionId connection = 0;
    ChunkId chunk = 0;
    std::size_t buffer = 0;
    std::uint64_t bytes = 0;
  };
  struct Chunk {
    std::vector<Buffer> buffers;
    std::map<Version, std::size_t> versions;  // the newest two
    ChunkValue value;
  };

  struct Snapshots {
    std::map<SnapshotId, std::set<ChunkId>> taken;
    std::set<SnapshotId> failed;  // a part of it could not be written
  };
  // The message that the core deals with.
  struct InHand {
    SessionId session = 0;       // of a push
    Work work;                   // the same
    std::uint32_t answers = 0;   // to it
    Version base = 0;            // of that push
    bool is_lost = false;        // it was computed from a version that this shard had in an earlier life alone
    std::uint32_t refusals = 0;  // of a stranger's
    std::set<std::tuple<SessionId, Version, bool>> gone;  // told of in answer to this event
    std::uint64_t drops = 0;  // connections to be ended for something else than what is not read
  };

  void receive_root(Host& host, SessionId session, ChunkId chunk, Step of_step);
  [[nodiscard]] bool is_pending(Host& host, ChunkId chunk, ItemId item) const;
  [[nodiscard]] bool is_held_up() const;
  [[nodiscard]] bool is_lost(Host& host, const Push& push) const;
  void step(Host& host, const lane::Event& event);
  void act(Host& host, lane::SendToWorker& action);
  void act(Host& host, lane::SendWeights& action);
  void act(Host& host, lane::SendToLead& action);
  void act(Host& host, lane::DropConnection& action);
  void act(Host& host, lane::Sum& action);
  void act(Host& host, lane::Drop& action);
  void act(Host& host, lane::Apply& action);
  void act(Host& host, lane::Append& action);
  void act(Host& host, lane::SyncJournal& action);
  void act(Host& host, lane::Begin& action);
  void act(Host& host, lane::Resume& action);
  void act(Host& host, lane::Measure& action);
  void act(Host& host, lane::TakeSnapshot& action);
  void act(Host& host, lane::SealSnapshot& action);
  void act(Host& host, lane::Retain& action);
  void act(Host& host, lane::Copy& action);
  void act(Host& host, lane::RecordFinish& action);
  void act(Host& host, lane::Stop& action);
  void act(Host& host, lane::Leave& action);

  void done(Host& host, const LaneGoesOn& what);
  void done(Host& host, const ReplyRelease& what);
  void done(Host& host, const TimelineRecord& what);
  void done(Host& host, const BaseLoad& what);
  void done(Host& host, const BaseFetch& what);
  void done(Host& host, const BaseSeal& what);
  void done(Host& host, const ChunkWrite& what);
  void done(Host& host, const SnapshotSeal& what);
  void done(Host& host, const SnapshotDeletion& what);
  void done(Host& host, const CopyAttempt& what);
  void done(Host& host, const CopyAnswer& what);
  void done(Host& host, const FinishRecord& what);
  void done(Host& host, const GroupWrite& what);
  void done(Host& host, const GroupCommit& what);
  void done(Host& host, const JournalSync& what);
  void done(Host& host, const CutSync& what);
  void done(Host& host, const CommitAnswer& what);
  void done(Host& host, const LifeRecord& what);
  void done(Host& host, const JournalReading& what);

  void note_asked(Host& host, ProcessId from, const Message& message);
  void note_plan(Host& host, const Message& message);
  void note_payment(ProcessId from, const Message& message);
  void apply_item(Host& host, lane::Apply& action);
  void note_answer(Host& host, SessionId session, const Receipt& receipt);
  void check_answered(Host& host) const;
  void check_memory(Host& host) const;
  [[nodiscard]] std::uint64_t kept_bytes(Host& host) const;
  void release_all_over(Host& host, SessionId session, ConnectionId connection);
  [[nodiscard]] bool reads(SessionId session, ConnectionId connection) const;
  void judge_cut(Host& host, SessionId session, ConnectionId connection);
  void note_waiting(Host& host);
  // The copying of the snapshot that is named, from its beginning or after a failure.
  void copy(Host& host, RunId run, SnapshotId named, std::uint32_t failures);
  [[nodiscard]] bool is_copying(RunId run, SnapshotId named) const;
  void tell_copied(Host& host, const CopyProgress& progress);
  [[nodiscard]] CopyPlace::Part own_part(Host& host, SnapshotId named);
  void clean_copies(Host& host);
  // lane_restore.cpp: what its shard's disk has lost.
  void look_for_copies(Host& host);
  [[nodiscard]] bool lacks(Host& host, SnapshotId base);
  std::map<ChunkId, ChunkValue> put_base_in_place(Host& host, SnapshotId base);
  void put_weights_in_place(Chunk& chunk, Version version);
  [[nodiscard]] bool is_resuming(Host& host, Timeline timeline);
  // Puts on the chunks what the journal has of them, and tells the core.
  void replay(Host& host, Timeline timeline, SnapshotId base);
  // lane_journal.cpp: the thread that writes the shard's journal, a group at a time.
  void write_journal(Host& host);
  void sync_later(Host& host);
  void tell_committed(Host& host, std::size_t through);
  [[nodiscard]] std::uint32_t shard(Host& host) const;
  [[nodiscard]] Disk& disk(Host& host);
  [[nodiscard]] bool owns(ChunkId chunk) const;
  std::size_t free_buffer(Chunk& chunk);
  HeldPayload take(PayloadId id);

  void later(Host& host, Wait wait, LanePending what) const { host.later(id(), wait, std::move(what)); }

  LaneLife life_;
  Lane core_;
  Watched<LaneState> state_{LaneState::starting};
  TurnJudge turns_;
  PaymentsJudge payments_;
  HeldPayloads held_;
  PayloadId next_payload_ = 1;
  bool goes_on_ = false;  // with what an event has left to do, soon
  std::map<ChunkId, Chunk> chunks_;
  ProcessId heard_ = kNobody;  // the last lead
  Timeline beginning_ = 0;     // the newest that the core has asked for
  CopyState copies_;           // what the core has asked for
  lane::CopiesFound found_;    // what it was told is in the place
  Snapshots snapshots_;
  InHand in_hand_;
  std::map<std::uint64_t, ReplyUnderWay> replies_;  // by number
  std::map<SessionId, ConnectionId> heard_over_;    // the newest connection
  std::set<std::pair<SessionId, ConnectionId>> ended_;
  std::map<std::pair<SessionId, ConnectionId>, Micros> read_at_;  // or since when something is to be read
  std::map<ChunkId, Micros> waits_since_;                         // chunks whose update waits for readers
  std::uint32_t ticks_without_cut_ = 0;  // since an update waits, or the last connection was cut for it
  std::set<SessionId> slow_readers_;     // that were cut
  std::uint64_t memory_ = 0;             // for contributions
  std::uint64_t kept_aside_;             // of weights that are read
  std::vector<SessionId> barred_;        // by the newest plan
  // Items that sessions wait to hear of, and from which version each was computed.
  std::map<std::tuple<ChunkId, ItemId, SessionId>, Version> unanswered_;
  std::deque<lane::Event> own_events_;
};

}  // namespace ballast::simulation
