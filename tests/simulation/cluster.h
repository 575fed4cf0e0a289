// A whole cluster in one thread of virtual time: the event queue, the network and the processes of one life.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/messages.h"
#include "tests/simulation/copies.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/judge.h"
#include "tests/simulation/life.h"
#include "tests/simulation/random.h"
#include "tests/simulation/reference.h"
#include "tests/simulation/transitions.h"

namespace ballast::simulation {

// At first the lead is 0, the lanes follow in order of shard and lane, then the workers, whose sessions bear this
// number. Who comes later, later lives of lead and lanes included, gets the next number.
using ProcessId = std::uint32_t;
inline constexpr ProcessId kLead = 0;
inline constexpr ProcessId kNobody = ~ProcessId{0};
// The digest of the initial weights that the user means.
inline constexpr const char* kOwnFile = "the job's";

class Cluster;

// What the processes have in common: a clock of their own, ticks, pauses and an end.
class Process {
 public:
  Process(Cluster& cluster, ProcessId id, std::string name);
  virtual ~Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  virtual void tick() = 0;
  virtual void receive(ProcessId from, const Message& message, const std::optional<Payload>& payload) = 0;

  [[nodiscard]] ProcessId id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] bool crashed() const { return !alive_ && !ended_; }
  // It has left by its own will, well or not.
  [[nodiscard]] bool ended() const { return ended_; }
  // Empty while it runs, after a crash, and if it ended well.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] Micros paused_until() const { return paused_until_; }
  [[nodiscard]] Micros next_tick();

  void pause(Micros until) { paused_until_ = std::max(paused_until_, until); }
  void die() { alive_ = false; }
  // It crashes after so many more actions, in the midst of what it is about to do.
  void light_fuse(std::uint32_t actions) { fuse_ = actions; }

 protected:
  void end(const std::string& failure);
  // To be asked after every action.
  [[nodiscard]] bool burns_down() { return fuse_ > 0 && --fuse_ == 0; }
  [[nodiscard]] Micros clock() const;
  // How much longer a span of this process's clock may last.
  [[nodiscard]] Micros slowed(Micros span) const { return static_cast<Micros>(static_cast<double>(span) / rate_) + 1; }

  Cluster& cluster_;

 private:
  ProcessId id_;
  std::string name_;
  Micros offset_ = 0;
  double rate_ = 1;
  Micros paused_until_ = 0;
  bool alive_ = true;
  bool ended_ = false;
  std::uint32_t fuse_ = 0;
  std::string failure_;
};

// What a life has shown.
struct LifeFacts {
  Transitions lead{};
  Transitions lane{};
  Transitions worker{};
  bool superseded = false;
  bool gone = false;
  bool served_older = false;
  bool backup = false;
  bool retry = false;
  bool lost_worker = false;
  bool late_join = false;
  bool deferred = false;
  bool duplicate = false;
  bool waited_for_factors = false;
  bool went_on = false;      // a lane, with what an event had left to do
  bool death = false;        // a shard died for good, and the job ended with its name
  bool shard_crash = false;  // and came back
  bool double_crash = false;
  bool with_lead = false;       // a shard crashed together with the lead that it hosts
  bool lead_crash = false;      // the lead alone
  bool copied = false;          // a snapshot, by all shards
  bool copy_failed = false;     // of one shard, once
  bool copy_dropped = false;    // for a newer snapshot
  bool copies_renamed = false;  // for the name was another job's
  bool copy_outlived = false;   // a rollback
  bool lost_unsynced = false;   // what was written and not synced was lost in a crash
  bool rollback = false;        // to a base past step 0
  bool mid_compute = false;     // a timeline began while a worker computed on an older one
  bool stale = false;
  bool clipped = false;  // the job clipped by norm, and rolled back or changed its lead
  bool skipped = false;
  bool gradient_rollback = false;
  bool halted = false;
  bool snapshot_failed = false;
  bool snapshot_missed = false;
  bool paused = false;
  bool resumed = false;  // the whole cluster, after a stop or a failure
  bool early_stop = false;
  bool stopped_without = false;
  bool late_stop = false;  // when it was about to finish
  bool kept_best = false;
  bool calm = false;  // no fault took effect
  bool async = false;
  bool ssp = false;
  bool journaled = false;
  bool resumed_within = false;  // a shard went on within its timeline
  bool replayed = false;        // with updates from its journal
  bool kept_in_crash = false;   // a shard of a job with a journal crashed, and the job never went back
  bool lost_commits = false;    // a power cut took what was committed
  bool lying_disk = false;      // and even what was synced
  bool broken_mark = false;     // the job went back because something lost was built upon
  bool survived_loss = false;   // or need not, for nothing was
  bool expired = false;         // a contribution came too late for the bound
  bool grant_delayed = false;   // by the bound
  bool two_stale = false;       // an update from weights two updates old, or older
  bool item_skipped = false;    // for its gradient
  bool left = false;            // a worker, with a goodbye
  bool one_way = false;         // a link was cut in one direction
  bool slow_link = false;
  bool skewed = false;              // the processes' clocks ran at different rates
  bool refused_data = false;        // a worker, for its data
  bool refused_arithmetic = false;  // or for its arithmetic
  bool mixed_arithmetic = false;    // workers of two have worked for one job
  bool refused_weights = false;     // a server, for the initial weights that it had read
  bool refused_right = false;       // though they were the job's: one with others had come before it
  bool second_server = false;       // said that it was a shard, and was not taken
  bool lost_volume = false;         // a shard came back with an empty disk
  bool lacked_base = false;         // and was not taken for lack of the snapshot
  bool displaced = false;           // by another database, after its silence
  bool paused_lead = false;         // a lead began in a pause of the user's
  bool unheard_end = false;         // a worker given up by the lead did not learn of the end
  std::uint64_t events = 0;
  Micros time = 0;
};

// What becomes of a message in a scripted life; nothing said: it arrives in time.
struct Fate {
  std::uint32_t copies = 1;
  Micros delay = 0;  // 0: the network's own
};
using Script = std::function<std::optional<Fate>(ProcessId from, ProcessId to, const Message& message)>;

class LaneShell;
class LeadShell;
class WorkerShell;

class Cluster {
 public:
  explicit Cluster(const LifeSpec& life);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Lives the life to its end; throws Violation.
  LifeFacts run();

  // Lines of the trace go here, in order, if it is set before run().
  std::function<void(const std::string&)> trace;
  // Leaves out of the trace what only says that someone lives, and orders that are said again.
  bool brief = false;

  // For scripted lives.
  Script script;
  void at(Micros time, std::function<void()> what) { schedule(time, kNobody, std::move(what)); }
  void crash(ProcessId worker);
  void join(LifeWorker worker);
  // The lanes of the shard, with the lead if it lives there; it comes back after `away`.
  void crash_shard(std::uint32_t shard, Micros away);
  void command(Control::Command command);
  // A rollback, for a gradient that is not finite as well, leaves work of many steps to do again.
  void has_work_again() { calm_since_ = std::max(calm_since_, now_); }

  // ---- for the processes
  [[nodiscard]] const LifeSpec& life() const { return life_; }
  [[nodiscard]] Micros now() const { return now_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] Judge& judge() { return judge_; }
  LifeFacts& facts() { return facts_; }
  [[nodiscard]] Disk& disk(std::uint32_t shard, std::uint64_t database) { return disks_.of(shard, database); }
  [[nodiscard]] CopyPlace& copies() { return copies_; }
  [[nodiscard]] bool copy_fails(std::uint32_t shard);
  // Whether the run's name is another job's in the place: from now on, or since.
  [[nodiscard]] bool takes_name(RunId run);
  [[nodiscard]] StoredLedger& stored_ledger() { return ledger_; }
  [[nodiscard]] NonFinite non_finite() const { return non_finite_; }
  [[nodiscard]] std::size_t workers() const { return workers_.size(); }
  [[nodiscard]] bool is_alive(ProcessId process) const { return processes_[process]->alive(); }
  [[nodiscard]] bool is_lead(ProcessId process) const;
  [[nodiscard]] ProcessId lead_id() const;
  // The process that is this life of the lane, dead or alive; kNobody if there was none.
  [[nodiscard]] ProcessId lane_id(std::uint32_t lane, Incarnation incarnation) const;
  [[nodiscard]] const LaneLife* lane_life(ProcessId process) const;
  [[nodiscard]] static std::string address(ProcessId process) { return std::to_string(process); }
  // When what the shard has just been told to write lies on its disk: one thing after the other.
  [[nodiscard]] Micros storage_delay(std::uint32_t shard, Micros span);
  [[nodiscard]] bool write_fails();
  [[nodiscard]] bool crashes_in_snapshot();
  // A process has burnt its fuse.
  void crash_lane(const LaneLife& life);
  void crash_lead();
  // The lead does not let a server in with the initial weights that it has read.
  void refused_weights(ProcessId lane);
  // The server ends, and is started again if it is the shard's.
  void end_server(const LaneLife& life);
  // The lead does not take a process for its shard's.
  void turned_away(ProcessId lane, const std::string& why);
  // The ledger may name another of a shard's two servers: it is the shard from now on.
  void take_listed(const Ledger& ledger);
  [[nodiscard]] LaneId lane_name(std::uint32_t lane) const { return {lane / life_.lanes, lane % life_.lanes}; }
  // The shard's journal is committed up to a record: its lanes hear of theirs.
  void tell_committed(const LaneLife& life, std::size_t through);
  // Whether work may have been applied that the lead did not know to be under way: a session was given up or left, a
  // lead has crashed, the job or a shard's journal went back.
  [[nodiscard]] bool was_disturbed() const;
  // At least one microsecond; at most `high`.
  Micros some(Micros high) { return life_.random_clocks ? random_.between(1, high) : high; }

  void send(const Process& from, ProcessId to, Message message, std::optional<Payload> payload = std::nullopt);
  void later(const Process& whose, Micros delay, std::function<void()> what);
  void say(const std::string& line) const;
  [[nodiscard]] bool traces() const { return static_cast<bool>(trace); }

 private:
  struct Event {
    Micros time = 0;
    Micros due = 0;  // before its process stood still: what waits keeps its order
    std::uint64_t sequence = 0;
    ProcessId process = kNobody;
    std::function<void()> what;
    bool operator>(const Event& other) const {
      return std::tie(time, due, sequence) > std::tie(other.time, other.due, other.sequence);
    }
  };

  void schedule(Micros time, ProcessId process, std::function<void()> what);
  void schedule_tick(ProcessId process);
  void say_message(const Process& from, ProcessId to, const Message& message, std::uint32_t copies);
  void schedule_faults();
  void schedule_crash();
  void schedule_pause();
  void schedule_cut();
  void schedule_one_way_cut();
  void schedule_slow_link();
  void schedule_leave();
  void schedule_each_kind();
  [[nodiscard]] std::pair<ProcessId, ProcessId> any_link();
  void schedule_stranger();
  void schedule_death(Micros time);
  void schedule_shard_crash();
  void schedule_lead_crash();
  void schedule_stop();
  void schedule_late_stop();
  void schedule_user_pause();
  void start_lead();
  void start_shard(std::uint32_t shard);
  void start_lanes(std::uint32_t shard, std::uint64_t database, std::vector<LaneShell*>& lanes);
  // From the job's file (0), or from another.
  void write_initial_weights(Disk& disk, std::uint32_t shard, std::uint32_t file);
  void read_initial_weights(std::uint32_t shard, std::uint64_t database, Incarnation incarnation);
  // Another server for the shard, with an empty disk.
  void start_second(std::uint32_t shard);
  void end_second(std::uint32_t shard);
  void come_back_without_volume(std::uint32_t shard);
  void schedule_second();
  void make_disk(Disk& disk, std::uint32_t shard);
  void let_go_on();
  [[nodiscard]] bool is_second(const Process& process) const;
  void revive_shard(std::uint32_t shard, Micros away);
  void take_down(std::uint32_t shard);
  void lose_journal(std::uint32_t shard, bool is_power_cut);
  void kill_lead();
  [[nodiscard]] bool is_stillborn() const;
  void start_cluster();
  void restart_if_resumable();
  [[nodiscard]] Micros time_away();
  [[nodiscard]] bool is_cut(ProcessId from, ProcessId to) const;
  void kill_shard(std::uint32_t shard);  // for good
  void pause_shard(std::uint32_t shard, Micros span);
  [[nodiscard]] Fate fate(ProcessId from, ProcessId to, const Message& message);
  [[nodiscard]] Micros arrival(ProcessId from, ProcessId to, const Fate& fate);
  [[nodiscard]] std::vector<ProcessId> live_workers() const;
  [[nodiscard]] bool faulty() const { return now_ < life_.faults.until; }
  void dispatch(Event event);
  [[nodiscard]] bool lead_died() const;
  [[nodiscard]] bool is_over();
  [[nodiscard]] Micros work_of_one() const;
  void check_progress() const;
  void conclude();
  void gather_items();
  void conclude_after_death() const;

  const LifeSpec& life_;
  Random random_;
  Disks disks_;
  CopyPlace copies_;
  Judge judge_;
  LifeFacts facts_;
  std::uint64_t faults_seen_ = 0;
  Micros now_ = 0;
  std::uint64_t sequence_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::map<std::pair<ProcessId, ProcessId>, Micros> last_arrival_;  // links keep their order
  std::map<std::pair<ProcessId, ProcessId>, Micros> cut_until_;     // by sender and receiver
  std::map<std::pair<ProcessId, ProcessId>, Micros> slow_links_;    // what they add, by sender and receiver
  std::vector<std::unique_ptr<Process>> processes_;
  StoredLedger ledger_;
  std::vector<Micros> disk_busy_until_;
  Incarnation last_incarnation_ = 0;
  std::uint32_t leads_ = 0;
  NonFinite non_finite_;
  std::size_t run_begins_ = 0;  // the first process of this run of the cluster
  Micros calm_since_ = 0;       // the last time that something went wrong
  bool resume_scheduled_ = false;
  LeadShell* lead_ = nullptr;
  std::vector<LaneShell*> lanes_;    // of the newest life of each
  std::vector<LaneShell*> seconds_;  // of another server that says it is the shard; null: there was none
  std::uint64_t last_database_ = 0;
  std::uint32_t other_files_ = 0;  // have been given to servers
  std::vector<WorkerShell*> workers_;
  std::map<ProcessId, std::uint64_t> orders_said_;
  bool lead_over_ = false;
  bool said_to_some_ = false;  // that the run has ended without finishing, by a lead that crashed then
  std::optional<std::uint32_t> dead_shard_;
};

}  // namespace ballast::simulation
