// A whole cluster in one thread of virtual time: the event queue, the network and the processes of one life.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/messages.h"
#include "tests/simulation/judge.h"
#include "tests/simulation/life.h"
#include "tests/simulation/random.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

// The lead is 0, the lanes follow in order of shard and lane, then the workers, whose sessions bear this number.
using ProcessId = std::uint32_t;
inline constexpr ProcessId kLead = 0;
inline constexpr ProcessId kNobody = ~ProcessId{0};

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
  // Empty while it runs, after a crash, and if it ended well.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] Micros paused_until() const { return paused_until_; }
  [[nodiscard]] Micros next_tick();

  void pause(Micros until) { paused_until_ = std::max(paused_until_, until); }
  void die() { alive_ = false; }

 protected:
  void end(const std::string& failure);
  [[nodiscard]] Micros clock() const;

  Cluster& cluster_;

 private:
  ProcessId id_;
  std::string name_;
  Micros offset_ = 0;
  Micros paused_until_ = 0;
  bool alive_ = true;
  std::string failure_;
};

// What a life has shown.
struct LifeFacts {
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
  bool death = false;        // a shard died for good, and the job ended with its name
  bool calm = false;         // no fault took effect
  bool unheard_end = false;  // a worker given up by the lead did not learn of the end
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

  // ---- for the processes
  [[nodiscard]] const LifeSpec& life() const { return life_; }
  [[nodiscard]] Micros now() const { return now_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] Judge& judge() { return judge_; }
  LifeFacts& facts() { return facts_; }
  [[nodiscard]] ProcessId lane_id(std::uint32_t lane) const { return 1 + lane; }
  [[nodiscard]] LaneId lane_name(std::uint32_t lane) const { return {lane / life_.lanes, lane % life_.lanes}; }
  // At least one microsecond; at most `high`.
  Micros some(Micros high) { return life_.random_clocks ? random_.between(1, high) : high; }

  void send(const Process& from, ProcessId to, Message message, std::optional<Payload> payload = std::nullopt);
  void later(const Process& whose, Micros delay, std::function<void()> what);
  void say(const std::string& line) const;
  [[nodiscard]] bool traces() const { return static_cast<bool>(trace); }

 private:
  struct Event {
    Micros time = 0;
    std::uint64_t sequence = 0;
    ProcessId process = kNobody;
    std::function<void()> what;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  void schedule(Micros time, ProcessId process, std::function<void()> what);
  void schedule_tick(ProcessId process);
  void say_message(const Process& from, ProcessId to, const Message& message, std::uint32_t copies);
  void schedule_faults();
  void schedule_crash();
  void schedule_pause();
  void schedule_cut();
  void schedule_stranger();
  void schedule_death(Micros time);
  [[nodiscard]] bool is_cut(ProcessId from, ProcessId to) const;
  void kill_shard(std::uint32_t shard);
  void pause_shard(std::uint32_t shard, Micros span);
  [[nodiscard]] Fate fate(ProcessId from, ProcessId to, const Message& message);
  [[nodiscard]] Micros arrival(ProcessId from, ProcessId to, const Fate& fate);
  [[nodiscard]] std::vector<ProcessId> live_workers() const;
  [[nodiscard]] bool faulty() const { return now_ < life_.faults.until; }
  void dispatch(Event event);
  [[nodiscard]] bool lead_died() const;
  [[nodiscard]] bool is_over();
  void check_progress() const;
  void conclude();
  void conclude_after_death() const;

  const LifeSpec& life_;
  Random random_;
  Judge judge_;
  LifeFacts facts_;
  std::uint64_t faults_seen_ = 0;
  Micros now_ = 0;
  std::uint64_t sequence_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::map<std::pair<ProcessId, ProcessId>, Micros> last_arrival_;  // links keep their order
  std::map<std::pair<ProcessId, ProcessId>, Micros> cut_until_;     // by worker and its peer
  std::vector<std::unique_ptr<Process>> processes_;
  LeadShell* lead_ = nullptr;
  std::vector<LaneShell*> lanes_;
  std::vector<WorkerShell*> workers_;
  std::map<ProcessId, std::uint64_t> orders_said_;
  bool lead_over_ = false;
  std::optional<std::uint32_t> dead_shard_;
};

}  // namespace ballast::simulation
