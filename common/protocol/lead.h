// The lead: gives out work and takes the decisions that concern the job as a whole.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/protocol/deadline.h"
#include "common/protocol/evaluation.h"
#include "common/protocol/ids.h"
#include "common/protocol/lead_work.h"
#include "common/protocol/messages.h"

namespace ballast {

struct LeadConfig {
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;
  Slot slots = 1;
  Step steps = 1;
  Step steps_per_epoch = 1;
  std::uint32_t test_examples = 0;  // 0: no evaluation
  std::uint32_t evaluation_item = 500;
  std::uint32_t start_workers = 1;
  std::string job;  // the effective job file, for workers
  std::string spec_digest;
  std::string layout_digest;
  std::function<StepFactors(Step)> factors;  // pure
  std::uint32_t plan_ahead = 256;            // steps
  LearntDeadline::Bounds worker_silence{1'500'000, 3'000'000, 15'000'000};
  LearntDeadline::Bounds shard_silence{3'000'000, 5'000'000, 15'000'000};
  LearntDeadline::Bounds late{250'000, 10'000'000, 60'000'000};  // a slot without its contribution
  Micros linger = 3'000'000;
};

namespace lead {

// ---- events

struct FromWorker {
  SessionId session = 0;
  const Message* message = nullptr;
};
struct FromLane {
  LaneId lane;
  Incarnation incarnation = 0;
  const Message* message = nullptr;
};
struct Tick {
  Micros now = 0;
};
struct LedgerWritten {};
struct LedgerFailed {
  std::string text;
};
using Event = std::variant<FromWorker, FromLane, Tick, LedgerWritten, LedgerFailed>;

// ---- actions, to be carried out in order

struct SendToWorker {
  SessionId session = 0;
  Message message;
};
struct SendToLane {
  LaneId lane;
  Incarnation incarnation = 0;
  Message message;
};
// What the lead makes durable before it acts on it.
struct TimelineRecord {
  Timeline timeline = 0;
  Step base = 0;
  std::vector<Incarnation> incarnations;  // by shard
};
struct FinishedRecord {
  Timeline timeline = 0;
  Step step = 0;
};
using LedgerRecord = std::variant<TimelineRecord, FinishedRecord>;

// Make the record durable, then say LedgerWritten. One at a time.
struct WriteLedger {
  LedgerRecord record;
};
struct Stop {
  std::string failure;  // empty: the job finished
};
using Action = std::variant<SendToWorker, SendToLane, WriteLedger, Stop>;
using Actions = std::vector<Action>;

}  // namespace lead

// Knows which sessions live and what the shards lack; decides nothing about bits.
// Pure: no I/O, clock, thread or log. Not thread-safe.
class Lead {
 public:
  enum class Phase : std::uint8_t {
    assembling,  // not every lane has said hello
    recording,   // the timeline is being made durable
    confirming,  // the shards make it durable
    waiting,     // for start_workers sessions
    training,
    evaluating,
    persisting,  // the final weights
    concluding,  // `finished` is being made durable
    finished,
    failed,
  };

  explicit Lead(LeadConfig config);

  lead::Actions step(const lead::Event& event);

  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] Status status() const;
  [[nodiscard]] const LeadWork& work() const { return work_; }

 private:
  struct LaneState {
    Incarnation incarnation = 0;
    std::string address;
    LaneReport report;
    Micros heard_at = 0;
    LearntDeadline silence;
    bool left = false;
  };
  struct Session {
    std::string name;
    bool live = false;
    bool ready = false;
    bool said_goodbye = false;
    Micros heard_at = 0;
    LearntDeadline silence;
    Heartbeat beat;
    Assign assign;
  };

  void on(const lead::FromWorker& event);
  void on(const lead::FromLane& event);
  void on(const lead::Tick& event);
  void on(const lead::LedgerWritten& event);
  void on(const lead::LedgerFailed& event);

  void on_shard_hello(const lead::FromLane& event, const ShardHello& hello);
  bool check_shard_hello(const lead::FromLane& event, const ShardHello& hello);
  void on_report(const lead::FromLane& event, const LaneReport& report);
  void on_statistics(const std::vector<StepStatistics>& statistics);
  void on_worker_hello(SessionId session, const WorkerHello& hello);
  bool make_room_for_session();
  void on_heartbeat(SessionId id, Session& session, const Heartbeat& beat);
  void on_evaluation(SessionId session, const EvaluationResult& result);
  void on_goodbye(SessionId id, Session& session);

  void progress();
  void observe_shards();
  void expect_step();
  void learn_step_time(Step steps);
  void begin_training();
  void begin_epoch();
  void end_epoch();
  void end_evaluation();
  void conclude();
  void members_changed();
  void lose(SessionId id, Session& session);
  void hand_out();
  void send_assignment(SessionId id, Session& session, bool even_unchanged);
  void send_plan(LaneId id, const LaneState& lane);
  void forgive_sleep(Micros slept);
  void check_silence();
  void leave_when_told();
  void fail(std::string reason);
  void finish_everyone();

  [[nodiscard]] std::vector<SessionId> ready_sessions() const;
  [[nodiscard]] bool all_lanes(const std::function<bool(const LaneState&)>& holds) const;
  [[nodiscard]] WorkerWelcome welcome() const;
  [[nodiscard]] bool is_over() const { return phase_ == Phase::finished || phase_ == Phase::failed; }
  [[nodiscard]] Step barrier() const { return barrier_; }

  template <typename Body>
  void emit(Body&& body) {
    actions_.emplace_back(std::forward<Body>(body));
  }

  LeadConfig config_;
  Phase phase_ = Phase::assembling;
  Timeline timeline_ = 0;
  std::map<LaneId, LaneState> lanes_;
  std::map<SessionId, Session> sessions_;
  std::vector<SessionId> joined_;  // live sessions in the order in which they became ready
  LeadWork work_;
  LearntDeadline step_time_;
  EvaluationBoard board_;
  Step barrier_ = 0;  // no work of this step or later is given out yet
  lead::Actions actions_;

  Micros now_ = 0;
  Micros open_since_ = 0;            // when the open step was first seen to be open
  std::optional<Micros> half_time_;  // from then until half of the sessions had brought theirs
  std::uint64_t handed_out_before_ = 0;
  Micros began_at_ = 0;
  Micros training_ = 0;
  Micros over_since_ = 0;
  bool stopped_ = false;
  std::string failure_;
  std::uint64_t lost_workers_ = 0;

  Step statistics_next_ = 0;
  std::deque<StepStatistics> recent_;
  double epoch_loss_ = 0;  // summed over the examples of the epoch so far
  double epoch_examples_ = 0;
  double train_loss_ = 0;
  bool has_epoch_loss_ = false;
  std::uint64_t examples_ = 0;
  std::uint64_t epochs_ = 0;
  EvaluationBoard::Total test_;
  bool evaluated_ = false;
};

}  // namespace ballast
