// The lead: gives out work and takes the decisions that concern the job as a whole.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/lead/barred_sessions.h"
#include "protocol/lead/copy_course.h"
#include "protocol/lead/course.h"
#include "protocol/lead/evaluations.h"
#include "protocol/lead/ledger_book.h"
#include "protocol/lead/pace.h"
#include "protocol/lead/pauses.h"
#include "protocol/lead/provenance.h"
#include "protocol/lead/session_roster.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/lead/slot_shares.h"
#include "protocol/lead/snapshot_schedule.h"
#include "protocol/lead/snapshot_view.h"
#include "protocol/lead/statistics_log.h"
#include "protocol/lead/step_planner.h"
#include "protocol/lead/torn_versions.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// What an earlier life of the lead left in its ledger.
struct LeadMemory {
  Ledger ledger;
  std::vector<EvaluationRecord> evaluations;  // ascending by step
  std::deque<StepStatistics> statistics;      // the newest, consecutive; from the timeline's base on at least
  Step statistics_next = 0;                   // the step after them
  std::uint64_t examples_before = 0;          // of the steps before them
};

// Of item mode: modes async and ssp.
struct ItemMode {
  std::uint32_t staleness_bound = 0;  // updates; 0: none
  std::uint32_t ahead = 4;            // grants of one session at a time
  bool journaled = false;             // a shard that comes back goes on in the same timeline, if nothing was lost
};

// All that a lead is told when it is made, a field a fact, of which there are more than 15.
struct LeadConfig {
  // Counted durably with those of shard 0's database: higher than any lead's before with the same one, so that its
  // orders and grants are none of theirs. With another database begins another timeline.
  std::uint64_t life = 1;
  std::uint64_t claim = 1;  // drawn at random for each life of the lead: by it shard 0 claims the name of copies
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;
  Slot slots = 1;
  Step steps = 1;
  Step steps_per_epoch = 1;
  Step evaluate_every = 1;                // steps; at the job's end as well
  std::uint32_t validation_examples = 0;  // 0: no validation
  std::uint32_t test_examples = 0;        // 0: no test
  std::uint32_t evaluation_item = 500;
  std::uint32_t early_stop_patience = 0;  // validations without improvement; 0: never stops early
  double early_stop_delta = 0;            // of what best_by names
  bool keep_best = false;
  MetricKind best_by = MetricKind::accuracy;  // what the best validation is, for these
  MetricRules metrics = {};                   // what evaluations count
  Step snapshot_every = 0;                    // steps; 0: only at the end
  std::uint32_t snapshots_kept = 2;
  RunId run = 1;                    // drawn at random; of a job whose ledger names none yet, or one that is another's
  std::optional<CopyRules> copies;  // none: snapshots are copied nowhere
  std::uint32_t start_workers = 1;
  std::uint32_t max_sessions =
      kMaxSessions;               // at most so many are remembered; with all of them live, others are refused
  std::optional<ItemMode> items;  // none: the job trains in rounds
  std::string name;               // of the job, for the status
  std::string mode;               // of training, as in the job file: for the status
  std::string job;                // the effective job file, for workers
  std::string spec_digest;
  std::string layout_digest;
  // Of an update for a step, with the number of updates before it that changed the weights. Pure.
  std::function<StepFactors(Step step, std::uint64_t updates)> factors;
  DecisionRules decisions;
  ProvenanceRules provenance;
  std::function<std::string(std::uint32_t)> parameter_name;  // for messages
  LeadMemory memory;
  std::uint32_t plan_ahead = 256;  // updates
  LearntDeadline::Bounds worker_silence{1'500'000, 3'000'000, 15'000'000};
  LearntDeadline::Bounds shard_silence{3'000'000, 5'000'000, 15'000'000};
  LearntDeadline::Bounds late{250'000, 10'000'000, 60'000'000};  // an item without its contribution
  SlotShares::Rules shares;                                      // of rounds; `slots` as above
  Micros suspect_after = 250'000;      // a session that is silent for so long, or for three of its intervals
  Micros torn_after = 250'000;         // a lane that is too far behind another is asked anew
  Micros probe_after = 70'000;         // it is sent its order again, which fails at once if nobody is connected
  Micros patience = 600'000'000;       // with a shard that is gone
  Micros stop_patience = 300'000'000;  // with a stop that comes to no snapshot
  Micros hold_again = 1'000'000;       // after a snapshot for a pause or a stop that a disk had no room for
  Micros write_statistics_every = 1'000'000;
  Micros linger = 3'000'000;  // after the end, for who has not heard of it
  Micros stay = 0;  // after an end that is no failure in any case, for who starts late; may be longer than `linger`
};

namespace lead {

// ---- events

struct FromWorker {
  SessionId session = 0;
  const Message* message = nullptr;
  std::string key = {};  // of a hello: the name of the one that it came with; empty: there are no keys
};
struct FromLane {
  LaneId lane;
  Incarnation incarnation = 0;
  const Message* message = nullptr;
};
// From the command line.
struct FromClient {
  Control::Command command = Control::Command::stop;
};
struct Tick {
  Micros now = 0;
};
// What was sent to the session could not be: nobody is connected.
struct Unreachable {
  SessionId session = 0;
};
struct LedgerWritten {};
struct LedgerFailed {
  std::string text;
};
// Its process was told to end: after the job's end it stays for those who have not heard of it, and for nobody who
// starts late.
struct StayNoLonger {};
using Event =
    std::variant<FromWorker, FromLane, FromClient, Tick, Unreachable, LedgerWritten, LedgerFailed, StayNoLonger>;

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
// Make the change durable, all of it or nothing, then say LedgerWritten or LedgerFailed. One at a time.
struct WriteLedger {
  LedgerChange change;
};
struct Stop {
  std::string failure;  // empty: the run ended well
};
using Action = std::variant<SendToWorker, SendToLane, WriteLedger, Stop>;
using Actions = std::vector<Action>;

}  // namespace lead

// Knows which sessions live and what the shards lack; decides nothing about bits.
// Invariants:
//   1. nothing is said to anyone that rests on a change of the ledger which is not durable;
//   2. a timeline's base and incarnations are written once and never derived again;
//   3. only shards' lives that the timeline lists are confirmed, and only snapshots of the timeline become complete;
//   4. a snapshot becomes complete only if nothing that a shard lost was built upon, by all that the reports say;
//   5. a worker is given work only when the durable ledger names its data and its arithmetic (up to kMaxArithmetics of
//      them), and refused only for what the job file or the durable ledger says.
// It has more than 15 members because it owns each part of a job once; what they have in common is the phase.
// Pure: no I/O, clock, thread or log. Copyable. Not thread-safe.
class Lead {
 public:
  enum class Phase : std::uint8_t {
    assembling,  // not every lane has said hello, or the timeline is not durable yet
    confirming,  // the shards make it durable and put its base in place
    waiting,     // for start_workers sessions
    training,
    evaluating,
    finishing,   // the final snapshot is being written
    concluding,  // `finished` is being made durable
    finished,
    stopped,
    failed,
  };

  explicit Lead(LeadConfig config);

  // Takes note of an event, whose message need not outlive the call. What follows from it for the job as a whole is
  // done when the turn is settled, once for all events of the turn. A heartbeat costs no more with more members.
  // `at`: when it happened, by the clock of the ticks, which are too rare to measure slots by; 0: at the last one.
  void hear(const lead::Event& event, Micros at = 0);
  // What is to be done after the events since the last call, in order.
  lead::Actions settle();
  // A turn of one event.
  lead::Actions step(const lead::Event& event) {
    hear(event);
    return settle();
  }

  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] Status status() const;
  [[nodiscard]] JobPhase job_phase() const;
  [[nodiscard]] const ShardRoster& shards() const { return shards_; }
  // Of the standing ranges; 0: there are none.
  [[nodiscard]] Generation generation() const { return course_.generation(); }
  [[nodiscard]] const Ledger& ledger() const { return book_.durable(); }
  // The newest, durable or not.
  [[nodiscard]] const SlotShares* shares() const { return course_.shares(); }
  [[nodiscard]] Timeline timeline() const { return book_.current().timeline; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::fixed(config_), listed::plain(phase_),
                       listed::parts(book_, shards_, sessions_, course_, planner_, evaluations_, log_, schedule_,
                                     copies_, tears_, barred_, pauses_, pace_),
                       listed::plain(tears_met_, barrier_), listed::parts(named_, end_),
                       listed::plain(stalled_, waits_for_, trouble_), listed::fixed(actions_, turn_),
                       listed::plain(basis_), listed::ages(now_, at_, assembling_since_));
  }

 private:
  void on(const lead::FromWorker& event);
  void on(const lead::FromLane& event);
  void on(const lead::FromClient& event);
  void on(const lead::Tick& event);
  void on(const lead::Unreachable& event);
  void on(const lead::LedgerWritten& event);
  void on(const lead::LedgerFailed& event);
  void on(const lead::StayNoLonger& event);

  // lead_hellos.cpp: processes that say they are a shard
  void on_shard_hello(const lead::FromLane& event, const ShardHello& hello);
  bool check_shard_hello(const lead::FromLane& event, const ShardHello& hello);
  void send_sign_of_life(LaneId id, Incarnation incarnation);
  void wait_for_ledger();
  [[nodiscard]] bool has_end(const ShardHello& hello) const;
  [[nodiscard]] Finish ending_for(const ShardHello& hello) const;

  // lead_shards.cpp: timelines, reports
  void on_report(const lead::FromLane& event, const LaneReport& report);
  LeadLane* reporting_lane(const lead::FromLane& event, const LaneReport& report);
  [[nodiscard]] bool is_within_the_job(const LaneReport& report) const;
  bool on_statistics(const std::vector<StepStatistics>& statistics);
  void begin_timeline(RollbackCause cause);
  void await_base(RollbackCause cause);
  void begin_if_stalled();
  void begin_again_without_base(const ShardHello& hello);
  [[nodiscard]] std::string without_base() const;
  void count_rollback(RollbackCause cause, Step base);
  [[nodiscard]] bool has_trained() const;
  [[nodiscard]] bool shows_training(const LeadLane& lane) const;
  void rewind(Step base);
  void confirm_if_durable();
  void send_confirm(LaneId id, const LeadLane& lane);
  void send_confirms();

  // lead_guard.cpp: whether workers and shards would give the job's bits
  void consider(SessionId id, LeadSession& session);
  void consider_all();
  void refuse(SessionId id, std::string why);
  [[nodiscard]] Told initial_weights_of_others(std::uint32_t shard) const;
  [[nodiscard]] std::string bits_trouble() const;

  // lead_shards.cpp: shards that come back, and those that are gone
  [[nodiscard]] bool can_resume(const ShardHello& hello) const;
  [[nodiscard]] RollbackCause why_no_shard_resumes() const;
  void resume_shard(const ShardHello& hello);
  bool begin_again_if_broken();
  [[nodiscard]] bool is_below_cut(const LeadLane& lane) const;
  void begin_again_if_below_cut();
  void check_shards();

  // lead_tears.cpp: lanes that are too far apart
  void check_versions();
  void take_back(const TornVersions::Tear& tear);
  void bar(SessionId session);
  [[nodiscard]] std::string sender_text(SessionId session) const;
  [[nodiscard]] static std::string why_barred();
  [[nodiscard]] bool goes_step_by_step() const;

  // lead_turn.cpp: what follows from the events of a turn
  struct Turn;
  void act(const Turn& turn);
  void follow(const Turn& turn);
  void observe_reports(const Turn& turn);
  [[nodiscard]] bool misses_some(const Turn& turn) const;
  void answer_lanes(const Turn& turn);
  [[nodiscard]] Micros beats_apart() const;
  void send_order(SessionId id, LeadSession& session, bool even_unchanged);
  void send_orders(const Turn& turn);

  // lead_steps.cpp: decisions on steps, plans
  void send_plan(LaneId id, const LeadLane& lane);
  void send_plans();
  [[nodiscard]] Step plan_end() const;
  LeadNumber name_limit();
  [[nodiscard]] const std::vector<StepRange>& skipped() const;
  void decide(const Turn& turn);
  [[nodiscard]] std::vector<const ChunkMeasure*> measures(const Turn& turn, bool of_all) const;
  [[nodiscard]] const ChunkMeasure* undecided_fault(const std::vector<const ChunkMeasure*>& measures) const;
  void on_fault(const ChunkMeasure& fault);
  [[nodiscard]] std::string describe(const ChunkMeasure& fault) const;

  // lead_snapshots.cpp: cuts, snapshots and their copies
  [[nodiscard]] const Ledger& facts() const;
  Ledger& edit_facts();
  [[nodiscard]] bool all_stand_at(Step step) const;
  void come_to_cut();
  void keep(Step step);
  void order_kept();
  void observe_snapshots();
  void complete_snapshot(SnapshotId id);
  void miss_snapshot(Step step, const std::string& why);
  void update_best();
  [[nodiscard]] SnapshotView snapshots() const;
  void observe_copies();
  [[nodiscard]] std::vector<CopyPart> copy_parts() const;
  [[nodiscard]] bool awaits_copy() const;

  // lead_legs.cpp: training, evaluation, the end; lead_pauses.cpp: pauses and stops
  void progress();
  void observe_shards();
  bool find_cut();
  void begin_training();
  [[nodiscard]] bool is_passed(Step barrier) const;
  [[nodiscard]] Step next_to_come(Step barrier) const;
  void begin_leg(Step barrier);
  void at_barrier();
  void begin_evaluation(Split split);
  void end_evaluation();
  void finish();
  void conclude_if_complete();
  void conclude();
  [[nodiscard]] bool has_come_to_barrier() const;
  void hold();
  void hold_from(Step step);
  void move_hold();
  void hold_if_complete();
  void hold_later();
  void check_wishes();
  [[nodiscard]] bool is_complete(Step hold) const;
  [[nodiscard]] bool has_held() const;  // the snapshot for which all hold is complete
  [[nodiscard]] bool holds_where_it_is() const;
  [[nodiscard]] bool is_held_by_user() const { return pauses_.wants_stop() || book_.may_hold_pause(); }
  [[nodiscard]] bool wants_hold() const;
  void want_pause(Pause pause);
  void stop_if_without_work();
  [[nodiscard]] std::string why_stopped_without() const;
  [[nodiscard]] bool has_final_snapshot() const;
  void stop_when_copied();
  [[nodiscard]] bool stops_without_work() const;
  void go_on();
  void end(Phase phase, std::string failure);
  void fail(std::string reason) { end(Phase::failed, std::move(reason)); }
  void leave_when_told();
  [[nodiscard]] Finish finish_message() const;
  [[nodiscard]] Step stand() const;
  [[nodiscard]] Step limit() const;  // no work of this step or later is given out yet

  // lead_departures.cpp: servers that were told to end
  [[nodiscard]] bool holds_for_departure() const;
  void hold_for_departure();
  void hold_at_barrier();
  void hold_here(Step here);
  void let_depart();
  [[nodiscard]] bool may_depart(LaneId id, const LeadLane& lane) const;
  [[nodiscard]] bool nobody_has_passed(Step step) const;

  // lead.cpp: events, workers, time
  void on_worker_hello(const lead::FromWorker& event, const WorkerHello& hello);
  void on_heartbeat(SessionId id, LeadSession& session, const Heartbeat& beat);
  void on_evaluation(SessionId session, const EvaluationResult& result);
  void on_goodbye(SessionId id, LeadSession& session);
  void lose(SessionId id);
  [[nodiscard]] std::set<SessionId> busy_elsewhere() const;
  void hand_out();
  void send_welcomes();
  void forgive_sleep(Micros slept);
  [[nodiscard]] bool is_sleep(Micros span) const;  // between two ticks
  void check_workers();
  void write_ledger();
  [[nodiscard]] WorkerWelcome welcome() const;
  [[nodiscard]] bool can_welcome() const;

  // lead_status.cpp
  void tell_trouble(Status& status) const;
  void tell_stranded(Status& status) const;
  [[nodiscard]] std::map<SessionId, Micros> overtaken() const;
  void tell_overtaken(Status& status) const;
  void tell_stand(Status& status) const;
  void tell_training(Status& status) const;
  void tell_events(Status& status) const;
  void tell_members(Status& status) const;

  // By this lead or one before it.
  [[nodiscard]] bool began() const { return config_.memory.ledger.timeline > 0 || pace_.begun(); }
  [[nodiscard]] bool is_over() const { return phase_ >= Phase::finished; }
  [[nodiscard]] bool is_confirmed() const { return phase_ > Phase::assembling; }

  template <typename Body>
  void emit(Body&& body) {
    actions_.emplace_back(std::forward<Body>(body));
  }

  // What the events of a turn have changed.
  struct Turn {
    bool stirred = false;                    // where the job stands, or who takes part, may be another now
    bool freed = false;                      // somebody may be given more to do
    bool ticked = false;                     // looks at all again, whatever was heard
    bool snapshots = false;                  // a lane has others, or the loss is known up to a later one
    bool copied = false;                     // a shard's part of one
    std::map<LaneId, Incarnation> reported;  // are answered with a plan
    std::set<SessionId> spoke_up;            // are answered with their order, changed or not
    bool operator==(const Turn&) const = default;
  };
  // What all orders follow from, beside what each session has to do.
  struct OrderBasis {
    Timeline timeline = 0;
    Phase phase = Phase::assembling;
    Step limit = 0;
    Generation generation = 0;
    bool operator==(const OrderBasis&) const = default;
  };
  // What all plans name since the newest change of it.
  struct Named {
    Step limit = std::numeric_limits<Step>::max();
    std::uint64_t number = 0;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(limit), listed::names(number));
    }
  };
  struct End {
    Micros since = 0;  // or since the lead began
    std::string failure;
    bool told = false;  // to the shell

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::ages(since), listed::plain(failure, told));
    }
  };

  LeadConfig config_;
  Phase phase_ = Phase::assembling;
  LedgerBook book_;
  ShardRoster shards_;
  SessionRoster sessions_;
  Course course_;
  StepPlanner planner_;
  Evaluations evaluations_;
  StatisticsLog log_;
  SnapshotSchedule schedule_;
  CopyCourse copies_;
  TornVersions tears_;
  BarredSessions barred_;
  Pauses pauses_;
  JobPace pace_;
  std::uint64_t tears_met_ = 0;  // in this life
  Step barrier_ = 0;             // training goes on beyond it when this version is evaluated
  Named named_;
  End end_;
  std::optional<RollbackCause> stalled_;  // a timeline that cannot begin: the shards have no base in common
  std::string waits_for_;
  std::string trouble_;
  lead::Actions actions_;
  Turn turn_;
  OrderBasis basis_;  // of the newest orders
  Micros now_ = 0;
  Micros at_ = 0;  // of the event in hand
  Micros assembling_since_ = 0;
};

}  // namespace ballast
