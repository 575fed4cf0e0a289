// A whole cluster in one thread of virtual time: runs the shells of one life, with a clock, a network and faults of
// chance.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "tests/simulation/agenda.h"
#include "tests/simulation/connections.h"
#include "tests/simulation/fault_events.h"
#include "tests/simulation/host.h"
#include "tests/simulation/network.h"
#include "tests/simulation/random.h"
#include "tests/simulation/shells.h"

namespace ballast::simulation {

// The digest of the initial weights that the user means.
inline constexpr const char* kOwnFile = "the job's";

class Cluster final : public Host {
 public:
  explicit Cluster(const LifeSpec& life);

  // Lives the life to its end; throws Violation.
  LifeFacts run();

  // Lines of the trace go here, in order, if it is set before run().
  std::function<void(const std::string&)> trace;
  // Leaves out of the trace what only says that someone lives, and orders that are said again.
  bool brief = false;

  // ---- for scripted lives
  void follow(Script script) { network_.follow(std::move(script)); }
  void at(Micros time, ScriptedAct what) { agenda_.add(time, kNobody, std::move(what)); }
  void crash(ProcessId worker);
  void join(const LifeWorker& worker);
  // The lanes of the shard, with the lead if it lives there; it comes back after `away`.
  void crash_shard(std::uint32_t shard, Micros away);
  // The same, and its disk is lost; `damaged`: with it the shard's part of the newest set of copies.
  void lose_shard(std::uint32_t shard, Micros away, bool damaged = false);
  // The shard's server is told to end, with the lead if that lives there; it comes back `away` after it has gone.
  void tell_to_end(std::uint32_t shard, Micros away);
  void command(Control::Command command);
  // The user lets the job go on as soon as it is paused, or at its end.
  void resume_when_paused() { schedule(now(), UserEndsPause{true}); }

  // ---- as a host
  using Host::send;
  [[nodiscard]] Micros now() const override { return agenda_.now(); }
  void later(ProcessId whose, Wait wait, Pending what) override;
  void send(const Process& from, ProcessId to, Message message, std::optional<Payload> payload) override;
  [[nodiscard]] ProcessId lead_id() const override { return roster_.lead->id(); }
  [[nodiscard]] bool is_lead(ProcessId process) const override;
  [[nodiscard]] bool is_alive(ProcessId process) const override { return this->process(process).alive(); }
  [[nodiscard]] const LaneLife* lane_life(ProcessId process) const override;
  [[nodiscard]] ProcessId lane_id(std::uint32_t lane, Incarnation incarnation) const override;
  [[nodiscard]] bool write_fails() override;
  [[nodiscard]] bool copy_fails(std::uint32_t shard) override;
  [[nodiscard]] bool draws_unread() override;
  [[nodiscard]] bool takes_name(RunId run) override;
  void drop_connection(ProcessId lane, ProcessId worker, ConnectionId connection) override;
  [[nodiscard]] std::uint64_t under_way(ProcessId lane) const override { return connections_.under_way(lane); }
  [[nodiscard]] ConnectionId newest_connection(ProcessId worker, ProcessId lane) override {
    return connections_.newest(worker, lane);
  }
  void acted(ProcessId process) override;
  void wrote_chunk(const LaneLife& lane) override;
  [[nodiscard]] bool was_disturbed() const override;
  void refused_weights(ProcessId lane) override;
  void end_server(const LaneLife& life) override;
  [[nodiscard]] bool is_up(std::uint32_t shard) const;
  void departs(const LaneLife& life, bool whole, bool lost) override;
  void turned_away(ProcessId lane, const std::string& why) override;
  void ledger_written(bool goes_back) override;
  [[nodiscard]] bool traces() const override { return static_cast<bool>(trace); }
  void say(const std::string& line) const override;

 private:
  // A process's own: it has its zero and may run at another rate than the time.
  struct Clock {
    Micros offset = 0;
    double rate = 1;
    [[nodiscard]] Micros read(Micros now) const;
  };
  struct Hosted {
    template <typename Kind, typename... Arguments>
    Hosted(std::in_place_type_t<Kind> kind, Clock its_clock, Arguments&&... arguments)
        : shell(kind, std::forward<Arguments>(arguments)...), clock(its_clock) {}

    Shell shell;
    Clock clock;
    Micros stands_until = 0;
    Micros hangs_until = 0;  // ends no computation before
    std::uint32_t fuse = 0;  // crashes after so many more actions, in the midst of what it is about to do
  };
  // Who plays which part now; they lie in processes_.
  struct Roster {
    LeadShell* lead = nullptr;
    std::uint32_t leads = 0;          // there have been
    std::vector<LaneShell*> lanes;    // of the newest life of each
    std::vector<LaneShell*> seconds;  // of another server that says it is the shard; null: there was none
    std::vector<WorkerShell*> workers;
    Incarnation last_incarnation = 0;
  };
  struct Storage {
    std::vector<Micros> busy_until;  // by shard: it does one thing after the other
    std::vector<Micros> away;        // by shard whose server is told to end: for so long
    std::uint64_t last_database = 0;
    std::uint32_t other_files = 0;  // have been given to servers
  };
  // Of the cluster, which may be started again as a whole.
  struct Run {
    RunOfCluster begins = 0;  // its first process
    bool lead_over = false;
    bool said_to_some = false;  // that it has ended without finishing, by a lead that crashed then
    bool resume_scheduled = false;
    std::optional<std::uint32_t> dead_shard;
    Micros calm_since = 0;  // the last time that something went wrong
  };

  // ---- time
  void schedule(Micros time, FaultEvent what) { agenda_.add(time, kNobody, std::move(what)); }
  void schedule_tick(ProcessId process);
  void dispatch(Agenda::Entry entry);
  void happen(ProcessId to, const Delivery& delivery);
  [[nodiscard]] bool is_there(ProcessId to, const Delivery& delivery);
  [[nodiscard]] std::uint64_t payload_bytes(const Message& message) const;
  void happen(ProcessId process, const TickDue& due);
  void happen(ProcessId process, const Pending& pending);
  void happen(ProcessId nobody, const FaultEvent& fault);
  void happen(ProcessId /*nobody*/, const ScriptedAct& act) { act(); }
  void tick(ProcessId process);
  // At least one microsecond; at most `high`.
  Micros some(Micros high) { return life().random_clocks ? random_.between(1, high) : high; }
  [[nodiscard]] Clock draw_clock();
  [[nodiscard]] Micros time_away() { return random_.between(1'000, life().faults.away); }
  [[nodiscard]] bool faulty() const { return now() < life().faults.until; }
  void disturb() { run_.calm_since = std::max(run_.calm_since, now()); }

  // ---- processes
  [[nodiscard]] ProcessId next_id() const { return static_cast<ProcessId>(processes_.size()); }
  [[nodiscard]] Process& process(ProcessId process);
  [[nodiscard]] const Process& process(ProcessId process) const { return const_cast<Cluster*>(this)->process(process); }
  [[nodiscard]] static const Process& base(const Shell& shell);
  void stand(const Process& process, Micros until);
  [[nodiscard]] std::uint32_t shard_of(const LaneLife& life) const { return life.lane / this->life().lanes; }
  // Of the worker's and the lane's, if the two are such.
  [[nodiscard]] std::optional<std::pair<ProcessId, ProcessId>> worker_and_lane(ProcessId one, ProcessId other) const;
  void end_connection(ProcessId worker, ProcessId lane, ConnectionId connection);
  void tell_of_connections(ProcessId process);
  void say_message(const Process& from, ProcessId to, const Message& message, std::uint32_t copies);

  // ---- cluster_start.cpp
  void start_cluster();
  void start_lead();
  void start_shard(std::uint32_t shard);
  void start_lanes(std::uint32_t shard, std::uint64_t database, std::vector<LaneShell*>& lanes);
  void make_disk(Disk& disk, std::uint32_t shard);
  // From the job's file (0), or from another.
  void write_initial_weights(Disk& disk, std::uint32_t shard, std::uint32_t file);
  void read_initial_weights(std::uint32_t shard, std::uint64_t database, Incarnation incarnation);

  // ---- cluster_faults.cpp: links, clocks, pauses, strangers
  void schedule_faults();
  void schedule_faults_of_workers();
  void schedule_faults_of_servers();
  void schedule_each_kind();
  // So many, at moments from `first` on, and before `last` and the end of all faults.
  void schedule_some(std::uint32_t count, Micros first, Micros last, const FaultEvent& what);
  void schedule_often_early(double how_often, Micros first, Micros early, const FaultEvent& what);
  [[nodiscard]] std::vector<ProcessId> live_workers() const;
  [[nodiscard]] std::pair<ProcessId, ProcessId> any_link();
  void carry_out(const WorkerJoins& what);
  void carry_out(const WorkerCrashes& what);
  void carry_out(const WorkerStands& what);
  void carry_out(const WorkerHangs& what);
  void carry_out(const WorkerWithholds& what);
  void carry_out(const WorkerLeaves& what);
  void carry_out(const LinkCut& what);
  void carry_out(const LinkCutOneWay& what);
  void carry_out(const LinkSlows& what);
  void carry_out(const StrangerSpeaks& what);
  void carry_out(const RootsPushed& what);
  void carry_out(const FalseResults& what);
  void carry_out(const ShardStands& what);
  void carry_out(const LeadStands& what);

  // ---- cluster_lives.cpp: crashes and further lives
  void carry_out(const ShardDies& what);
  void carry_out(const ShardFuse& what);
  void carry_out(const LeadFuse& what);
  void carry_out(const ShardReturns& what);

  // ---- cluster_disks.cpp: disks that are lost for good
  void carry_out(const DiskLost& what);
  void lose_disk(std::uint32_t shard);
  void damage_newest_copy(std::uint32_t shard);
  [[nodiscard]] std::vector<SnapshotId> copies_to_go_on_from() const;
  [[nodiscard]] bool writes_last_snapshot() const;
  void crash_lane(const LaneLife& life);
  void crash_lead();
  void take_down(std::uint32_t shard);
  void lose_journal(std::uint32_t shard, bool is_power_cut);
  void kill_lead();
  void kill_shard(std::uint32_t shard);  // for good
  void revive_shard(std::uint32_t shard, Micros away);
  [[nodiscard]] bool is_stillborn() const;

  // ---- cluster_departures.cpp: servers that are told to end
  void carry_out(const ServerTold& what);
  void carry_out(const ServerGone& what);
  void server_departs(std::uint32_t shard);
  void note_departure(std::uint32_t shard, bool whole, bool lost);

  // ---- cluster_seconds.cpp: another server for a shard, with an empty disk or with other weights
  void carry_out(const VolumeReturns& what);
  void carry_out(const SecondStarts& what);
  void carry_out(const SecondEnds& what);
  void carry_out(const OtherFileNoticed& what);
  void start_second(std::uint32_t shard);
  void end_second(std::uint32_t shard);
  void come_back_without_volume(std::uint32_t shard);
  void take_listed(const Ledger& ledger);
  [[nodiscard]] bool is_second(const Shell& shell) const;

  // ---- cluster_user.cpp
  void schedule_user();
  void carry_out(const UserStops& what);
  void carry_out(const UserStopsLate& what);
  void carry_out(const UserPauses& what);
  void carry_out(const UserEndsPause& what);
  void carry_out(const UserLetsGoOn& what);
  void carry_out(const UserResumes& what);
  void let_go_on();
  void restart_if_resumable();

  // ---- cluster_end.cpp
  [[nodiscard]] bool lead_died() const;
  [[nodiscard]] bool is_over();
  void end_lead();
  [[nodiscard]] Micros work_of_one() const;
  void check_progress() const;
  void conclude();
  void check_failures();
  void gather_facts();
  void gather_items();
  void conclude_after_death() const;

  Random random_;
  Agenda agenda_;
  Network network_;
  Connections connections_;
  std::deque<Hosted> processes_;
  Roster roster_;
  Storage storage_;
  Run run_;
  std::uint64_t faults_seen_ = 0;                // beside the network's
  std::map<ProcessId, LeadNumber> orders_said_;  // in the trace
};

}  // namespace ballast::simulation
