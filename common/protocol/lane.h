// A lane: the owner of some chunks of one shard. Collects rounds, applies them, serves two versions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/messages.h"
#include "common/protocol/round.h"

namespace ballast {

struct LaneChunk {
  ChunkId id = 0;
  std::uint64_t bytes = 0;
  bool statistics = false;
};

struct LaneConfig {
  LaneId id;
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;
  Incarnation incarnation = 1;
  Slot slots = 1;
  Step steps = 1;  // of the whole job
  std::vector<LaneChunk> chunks;
  std::string spec_digest;
  std::string layout_digest;
  std::string address;
  std::uint64_t credit_bytes = 64U << 20;        // each session's unreceipted payload bytes
  std::uint64_t reply_window_bytes = 16U << 20;  // weights handed to the transport and not yet sent, per session
  Micros report_every = 50'000;                  // to the lead, while something changes
  Micros idle_report_every = 200'000;            // otherwise
  Micros lead_silence = 5'000'000;               // without a word from the lead the lane stops
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
// The timeline is durable and the weights of its base are in place.
struct Begun {
  Timeline timeline = 0;
};
struct Persisted {
  Timeline timeline = 0;
  Step step = 0;
};
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
    std::variant<FromWorker, FromLead, Tick, Begun, Persisted, StorageFailed, RepliesReleased, StatisticsRead>;

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
};
struct Drop {
  PayloadId payload = kNoPayload;
};
// Turns version `step` of the chunk into `step + 1`, written into a buffer that no reply references; version `step`
// stays, step - 1 goes. Consumes the root.
struct Apply {
  ChunkId chunk = 0;
  bool statistics = false;  // answer with StatisticsRead
  Step step = 0;
  PayloadId root = kNoPayload;
  StepFactors factors;
};
// Make the timeline durable, put the base's weights in place, then say Begun.
struct Begin {
  Timeline timeline = 0;
  Step base = 0;
};
// Make all chunks at `step` and the word `finished` durable, then say Persisted.
struct PersistFinal {
  Timeline timeline = 0;
  Step step = 0;
};
struct Stop {
  std::string failure;  // empty: the job finished
};
using Action = std::variant<SendToWorker, SendWeights, SendToLead, Sum, Drop, Apply, Begin, PersistFinal, Stop>;
using Actions = std::vector<Action>;

}  // namespace lane

struct LaneCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;  // payloads that a containing node replaced
  std::uint64_t refused = 0;
  std::uint64_t stale = 0;
  std::uint64_t gone = 0;
  std::uint64_t served_older = 0;  // pulls of the version before the newest
  std::uint64_t deferred = 0;      // replies that waited for the session's window
  std::uint64_t waited_for_factors = 0;
};

// Invariants:
//   1. every chunk is at open_step() or open_step() + 1;
//   2. a session has at most one waiting and one deferred reply per chunk, so memory is bounded by sessions x chunks;
//   3. a receipt is sent only for work that is covered or whose step is closed.
// Pure: no I/O, clock, thread or log. Not thread-safe.
class Lane {
 public:
  explicit Lane(LaneConfig config);

  lane::Actions step(const lane::Event& event);

  [[nodiscard]] const LaneCounters& counters() const { return counters_; }
  [[nodiscard]] Step open_step() const { return open_step_; }
  [[nodiscard]] Timeline timeline() const { return timeline_; }
  [[nodiscard]] bool serving() const { return serving_; }
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] std::size_t deferred_replies() const;
  // Held payloads; at most ceil(slots / 2) per chunk.
  [[nodiscard]] std::size_t held_payloads() const { return held_payloads_; }

 private:
  struct ChunkState {
    explicit ChunkState(const LaneChunk& chunk, Slot slots) : spec(chunk), round(slots) {}
    LaneChunk spec;
    Version version = 0;
    Round round;
    std::map<SessionId, Version> waiting;  // pulls of versions that do not exist yet
    bool reported_waiting = false;         // covered, and the lead has been asked for factors
  };
  struct DeferredReply {
    ChunkId chunk = 0;
    Version version = 0;
  };
  struct Session {
    Micros seen = 0;
    std::uint64_t reply_bytes = 0;
    std::deque<DeferredReply> deferred;
  };

  void on(const lane::FromWorker& event);
  void on(const lane::FromLead& event);
  void on(const lane::Tick& event);
  void on(const lane::Begun& event);
  void on(const lane::Persisted& event);
  void on(const lane::StorageFailed& event);
  void on(const lane::RepliesReleased& event);
  void on(const lane::StatisticsRead& event);

  void on_hello(SessionId session, const LaneHello& hello);
  void on_pull(SessionId session, const Pull& pull);
  void on_push(const lane::FromWorker& event, const Push& push);
  void on_confirm(const Confirm& confirm);
  void on_plan(const Plan& plan);
  void on_persist(const Persist& persist);
  void on_finish(const Finish& finish);

  bool check_timeline(SessionId session, Timeline timeline);
  bool check_push(const lane::FromWorker& event, const Push& push);
  void want(SessionId session, ChunkState& chunk, Version version);
  void reply(SessionId session, const ChunkState& chunk, Version version);
  void drain(SessionId session);
  void apply_if_covered(ChunkState& chunk);
  void account(const ChunkState& chunk);
  void answer_waiting(ChunkState& chunk);
  void advance_open_step();
  void report();
  void report_if_at_barrier();
  void refuse(SessionId session, RefusalCode code, std::string text);
  bool make_room_for_session();
  [[nodiscard]] const StepFactors* factors(Step step) const;
  [[nodiscard]] Step planned_until() const { return plan_first_ + plan_.size(); }
  [[nodiscard]] SlotSet missing() const;
  ChunkState* find(ChunkId id);

  template <typename Body>
  void emit(Body&& body) {
    actions_.emplace_back(std::forward<Body>(body));
  }

  LaneConfig config_;
  std::vector<ChunkState> chunks_;
  std::unordered_map<ChunkId, std::size_t> index_;
  std::unordered_map<SessionId, Session> sessions_;
  std::map<SessionId, std::uint64_t> slots_by_session_;
  lane::Actions actions_;
  LaneCounters counters_;

  Timeline timeline_ = 0;
  Timeline beginning_ = 0;
  Step base_ = 0;
  bool serving_ = false;
  Step open_step_ = 0;
  std::size_t behind_ = 0;  // chunks still at open_step_
  Step plan_first_ = 0;
  std::vector<StepFactors> plan_;
  std::vector<StepStatistics> statistics_;  // that the lead has not confirmed
  std::size_t held_payloads_ = 0;

  Micros now_ = 0;
  Micros reported_at_ = 0;
  Micros lead_heard_at_ = 0;
  bool lead_heard_ = false;  // since the last tick
  bool lead_known_ = false;
  bool changed_ = false;  // since the last report
  bool persisting_ = false;
  bool persisted_ = false;
  bool leaving_ = false;
  bool stopped_ = false;
  std::string failure_;
  std::uint64_t report_sequence_ = 0;
};

}  // namespace ballast
