// The shells around the cores, as the real processes have them, over virtual time and symbolic payloads.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/protocol/lane.h"
#include "common/protocol/lead.h"
#include "common/protocol/worker.h"
#include "tests/simulation/cluster.h"
#include "tests/simulation/strangers.h"
#include "tests/simulation/turn_judge.h"

namespace ballast::simulation {

class LeadShell : public Process {
 public:
  LeadShell(Cluster& cluster, ProcessId id);

  void tick() override;
  void receive(ProcessId from, const Message& message, const std::optional<Payload>& payload) override;

  void receive_command(Control::Command command);
  // From a session that has not said hello.
  void receive_strange(SessionId session, const Message& message);

  [[nodiscard]] const Lead& core() const { return core_; }
  // Whether the lead counts the session among the living.
  [[nodiscard]] bool believes_in(SessionId session) const;

 private:
  void step(const lead::Event& event);
  void judge_phase(Lead::Phase before) const;
  void receive_from_lane(const LaneLife& lane, const Message& message);
  void act(lead::SendToWorker& action);
  void act(lead::SendToLane& action);
  void act(lead::WriteLedger& action);
  void act(lead::Stop& action);

  Lead core_;
  Watched<Lead::Phase> state_;
  bool writing_ = false;
  std::uint32_t refusals_ = 0;  // of the message in hand
};

class LaneShell : public Process {
 public:
  // `database`: one of the two that the shard may have.
  LaneShell(Cluster& cluster, ProcessId id, std::uint32_t lane, Incarnation incarnation, std::uint64_t database);

  void tick() override;
  void receive(ProcessId from, const Message& message, const std::optional<Payload>& payload) override;

  // From a session whose hello, if it said one, was well; the message is not.
  void receive_strange(SessionId session, bool says_hello, const StrangeMessage& message);

  [[nodiscard]] const Lane& core() const { return core_; }
  [[nodiscard]] const LaneLife& life() const { return life_; }
  [[nodiscard]] bool has_heard(ProcessId lead) const { return heard_ == lead; }
  void gather(LifeFacts& facts) const;
  // The journal has committed so much of what this life of the lane has appended.
  void committed(std::uint64_t ticket, std::uint64_t sequence);

 private:
  // Where a chunk's weights lie. A buffer that a reply references is never written.
  struct Buffer {
    Expression value = 0;
    std::uint32_t references = 0;
  };
  struct Chunk {
    std::vector<Buffer> buffers;
    std::map<Version, std::size_t> versions;  // the newest two
    ChunkValue value;
  };

  void step(const lane::Event& event);
  void act(lane::SendToWorker& action);
  void act(lane::SendWeights& action);
  void act(lane::SendToLead& action);
  void act(lane::Sum& action);
  void act(lane::Drop& action);
  void act(lane::Apply& action);
  void act(lane::Append& action);
  void act(lane::Begin& action);
  void act(lane::Resume& action);
  void act(lane::Measure& action);
  void act(lane::TakeSnapshot& action);
  void act(lane::SealSnapshot& action);
  void act(lane::Retain& action);
  void act(lane::Copy& action);
  void act(lane::RecordFinish& action);
  void act(lane::Stop& action);

  void note_asked(ProcessId from, const Message& message);
  void note_plan(const Message& message);
  void apply_item(lane::Apply& action);
  void note_answer(SessionId session, const Receipt& receipt);
  void check_answered() const;
  // The copying of the snapshot that is named, from its beginning or after a failure.
  void copy(RunId run, SnapshotId named, std::uint32_t failures);
  [[nodiscard]] bool is_copying(RunId run, SnapshotId named) const;
  void clean_copies();
  // What the disk has done when all before it is done, and then the core's event, if the lane still lives.
  void on_disk(Micros span, std::function<void()> what);
  std::map<ChunkId, ChunkValue> put_base_in_place(SnapshotId base);
  void put_weights_in_place(Chunk& chunk, Version version);
  // Puts on the chunks what the journal has of them, and tells the core.
  void replay(Timeline timeline, SnapshotId base);
  // lane_journal.cpp: the thread that writes the shard's journal, a group at a time.
  void write_journal();
  void end_group(Timeline timeline, std::size_t through);
  void sync_later();
  [[nodiscard]] std::uint32_t shard() const;
  [[nodiscard]] Disk& disk();
  [[nodiscard]] bool owns(ChunkId chunk) const;
  std::size_t free_buffer(Chunk& chunk);
  HeldPayload take(PayloadId id);

  LaneLife life_;
  Lane core_;
  Watched<LaneState> state_{LaneState::starting};
  TurnJudge turns_;
  HeldPayloads held_;
  PayloadId next_payload_ = 1;
  bool goes_on_ = false;  // with what an event has left to do, soon
  std::map<ChunkId, Chunk> chunks_;
  ProcessId heard_ = kNobody;  // the last lead
  Timeline beginning_ = 0;     // the newest that the core has asked for
  std::map<SnapshotId, std::set<ChunkId>> taken_;
  CopyState copies_;             // what the core has asked for
  std::set<SnapshotId> failed_;  // a part of it could not be written
  std::uint32_t answers_ = 0;    // to the push in hand
  Version base_in_hand_ = 0;     // of that push
  // Items that sessions wait to hear of.
  std::set<std::tuple<ChunkId, ItemId, SessionId>> unanswered_;
  std::uint32_t refusals_ = 0;  // of the strange message in hand
  std::deque<lane::Event> own_events_;
};

class WorkerShell : public Process {
 public:
  WorkerShell(Cluster& cluster, ProcessId id, LifeWorker speed);

  void tick() override;
  void receive(ProcessId from, const Message& message, const std::optional<Payload>& payload) override;

  [[nodiscard]] const Worker& core() const { return core_; }
  // Whether a lead may have given this one up, so that it needs not learn of the end.
  [[nodiscard]] bool has_heard(ProcessId lead) const { return heard_ == lead; }
  void leave();
  void excuse() { excused_ = true; }
  [[nodiscard]] bool excused() const { return excused_; }
  // Rightly, by the judge.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  // A gradient or weights that this process keeps for its core.
  struct Kept {
    bool is_gradient = false;
    ChunkId chunk = 0;
    Step step = 0;  // of weights: the version
    Node node;
    Payload payload;
    std::uint32_t sent = 0;
    Micros sent_at = 0;
    bool receipted = false;
    bool was_oldest = false;  // of what was kept for its lane, when it was first sent
    Weights header = {};      // of weights
  };

  void step(const worker::Event& event);
  void act(worker::SendToLead& action);
  void act(worker::SendToLane& action);
  void act(worker::Prepare& action);
  void act(worker::Connect& action);
  void act(worker::Prefetch& action);
  void act(worker::Store& action);
  void act(worker::Release& action);
  void act(worker::Compute& action);
  void act(worker::Evaluate& action);
  void act(worker::Stop& action);

  void note_receipt(const Receipt& receipt);
  void push(std::uint32_t lane, const Push& push, PayloadId id);
  [[nodiscard]] bool is_oldest(const Kept& gradient) const;
  void check_credit(std::uint32_t lane) const;
  void check_retries() const;
  void check_kept() const;
  // Where each item is an update of its own.
  void take_grants(const Assign& assign);
  void check_pull(const Pull& pull) const;
  void check_brought(const Heartbeat& beat) const;
  std::uint32_t origin_of(ItemId item);
  [[nodiscard]] bool is_replaced(PayloadId id) const;
  Micros compute_node(Step step, Node node, bool is_last, Micros at);
  void gradient_ready(Step step, Node node, ChunkId chunk, const Payload& payload, bool is_last, Micros at);
  // All of one timeline, or it is a violation.
  [[nodiscard]] Expression weights() const;

  LifeWorker speed_;
  Worker core_;
  Watched<WorkerState> state_{WorkerState::starting};
  std::map<PayloadId, Kept> kept_;
  PayloadId next_payload_ = 1;
  std::vector<Payload> weights_;
  std::vector<Weights> headers_;             // of weights_
  std::map<std::uint64_t, ItemId> grants_;   // that it has heard of, by clock
  std::set<std::uint64_t> computed_grants_;  // by clock
  std::uint32_t origin_ = 0;                 // of the gradients in hand
  std::vector<ProcessId> lanes_;             // to which it is connected
  std::map<std::pair<Timeline, ChunkId>, Version> newest_seen_;
  Timeline newest_timeline_ = 0;  // that it has heard of
  std::uint64_t order_ = 0;
  bool computing_ = false;
  ProcessId heard_ = kNobody;  // the last lead
  bool excused_ = false;
  bool refused_ = false;
};

}  // namespace ballast::simulation
