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
#include "tests/simulation/facts.h"
#include "tests/simulation/judge.h"
#include "tests/simulation/life.h"
#include "tests/simulation/random.h"
#include "tests/simulation/reference.h"

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
