// The processes of a local run: their command lines, their lives, and the file that lists them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/processes/process.h"
#include "cli/run_folder/run_folder.h"
#include "cli/running/prometheus.h"
#include "cli/running/restarts.h"
#include "common/job/job.h"

namespace ballast {

using Clock = std::chrono::steady_clock;

// How our processes end that were told to and lose nothing by it, while the job goes on: no other end of theirs has it.
inline constexpr int kExitUnfinished = 5;

enum class Role : std::uint8_t { server, worker };

// One place in the cluster; it may be taken by several processes after each other.
struct Member {
  Role role = Role::server;
  std::uint32_t index = 0;
  pid_t pid = 0;               // 0: not running
  std::uint32_t restarts = 0;  // started again
  Clock::time_point started;
  std::optional<Clock::time_point> due;          // the next start
  std::string death;                             // how the last life ended, said when the next one begins
  std::optional<Clock::time_point> departed;     // by itself and well, when the end of the job was not known
  std::string refusal;                           // why the next one could not begin, as it was told; empty: it could
  bool added = false;                            // by `ballast scale`: the run goes on without it
  bool wanted = true;                            // a worker that is not is not started again
  bool told_to_go = false;                       // and has not gone yet
  bool fresh = false;                            // its next life does not follow a death
  std::string given_up_for;                      // why it is not wanted, though it was asked for; empty: it was not
  std::map<std::string, std::string> addresses;  // lead, lanes, metrics, page
  RestartPolicy policy;

  [[nodiscard]] std::string name() const;  // "shard 0", "worker 1"
};

struct ClusterOptions {
  bool metrics = false;
  bool page = false;                                                // the lead serves the job's page
  bool keys = false;                                                // over tcp: made for this run, and gone with it
  std::string backend = "auto";                                     // what workers compute on, as worker files have it
  std::uint32_t gpus = 0;                                           // for workers to take in turn
  std::map<std::uint32_t, std::string> worker_faults;               // POINT@STEP by worker; its first life only
  std::map<std::uint32_t, std::vector<std::string>> server_faults;  // by shard: one for each of its lives
};

// One thread, the main one. Whatever way it ends, no process is left.
class Cluster {
 public:
  Cluster(const Job& job, const RunFolder& folder, ClusterOptions options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Shard 0, which hosts the lead.
  void start_lead();
  // The lead's address, once shard 0 has written it. It stays the same in all lives of shard 0.
  [[nodiscard]] std::optional<std::string> lead_address() const;
  // Where the lead serves the page; empty: nowhere.
  [[nodiscard]] std::string page() const;
  // All others.
  void start_others(const std::string& lead);
  // Why it could not be started, and is still due; empty: it runs. A fresh one counts as no restart.
  std::string start_again(Member& member);
  // So many workers from now on, those of the lowest numbers: who is beyond is told to go, who is missing is due.
  void want_workers(std::uint32_t count, Clock::time_point now);
  // Of one that has ended and is not to be started again, though it was asked for.
  void give_up(Member& worker, const std::string& why);
  // Kills all that is left, and waits for it.
  void end();

  // Notes that the process has ended; null for one that is not ours.
  Member* ended(pid_t pid);
  void signal_all(int signal) const;

  // Asks all processes for their metrics from now on. Throws std::runtime_error.
  void watch_with(const std::filesystem::path& prometheus);
  // Where; empty: nobody does.
  [[nodiscard]] std::string watched_at() const { return prometheus_ ? prometheus_->address() : std::string(); }

  [[nodiscard]] std::vector<Member>& members() { return members_; }
  [[nodiscard]] std::size_t live(Role role) const;
  [[nodiscard]] std::size_t live() const { return live(Role::server) + live(Role::worker); }
  // Whether somebody who died is to be started again.
  [[nodiscard]] bool is_any_due() const;
  [[nodiscard]] std::uint32_t restarts(Role role) const;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path log_of(const Member& member) const;
  // Whether the databases hold the job's end, for when the lead is gone; nothing: they cannot be read.
  [[nodiscard]] std::optional<bool> has_finished() const;
  // Tries again to write processes.json if the disk refused it: why it still does, empty if all is well.
  std::string mend_list();

 private:
  void start(Member& member);
  static void take_in(Member& worker, Clock::time_point now);
  static void send_away(Member& worker);
  [[nodiscard]] Command command_of(Member& member);
  [[nodiscard]] std::string page_address();
  [[nodiscard]] std::vector<std::string> server_arguments(Member& member) const;
  [[nodiscard]] std::vector<std::string> worker_arguments(Member& member) const;
  [[nodiscard]] std::string fault_of(const Member& server) const;
  void write_list();
  void write_targets() const;

  const Job& job_;
  const RunFolder& folder_;
  ClusterOptions options_;
  std::filesystem::path server_program_;
  std::filesystem::path worker_program_;
  std::optional<SocketFolder> sockets_;  // ipc only
  std::filesystem::path keys_;           // empty: none
  std::string lead_;
  std::vector<Member> members_;  // shards by index, then workers by index
  std::uint16_t page_port_ = 0;  // 0: none was chosen yet
  std::optional<Prometheus> prometheus_;
  std::string list_refusal_;  // why processes.json is not up to date; empty: it is
};

}  // namespace ballast
