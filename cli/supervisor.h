// Watches over a local run: starts it, shows how it goes, starts lost workers again, and ends it.
//
// One thread, one loop: it waits for signals (a child's end is one) and for the lead's answers. The courses it takes:
//   binding -> running -> leaving               the job finished: wait for the processes to leave
//                      -> doubtful -> stopping  a shard gave up: a moment for the lead's reason
//              anywhere -> stopping             SIGTERM to all, SIGKILL after a while
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/cluster.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/status_client.h"
#include "common/protocol/messages.h"

namespace ballast {

class Supervisor {
 public:
  // All must outlive it.
  Supervisor(Cluster& cluster, Signals& signals, Progress& progress);

  // Returns when no process is left: 0 finished, 1 failed, 128 + signal when stopped by one.
  int watch();
  // The lead's last word; nothing if there never was one.
  [[nodiscard]] const std::optional<Status>& status() const { return status_; }

 private:
  enum class Stage { binding, running, leaving, doubtful, stopping };

  void turn(Poll& poll);
  void on_signal(int signal);
  void on_ended(const Ended& ended);
  void on_server_ended(const Member& server, const Ended& ended);
  void on_worker_ended(Member& worker, const Exit& exit);
  void on_status(Status status);
  void on_time(Clock::time_point now);
  void connect(const std::string& lead, Poll& poll);
  void start_due(Clock::time_point now);
  void show_silence(Clock::time_point now);
  void fail(const std::string& text);
  void stop(int exit_code);
  [[nodiscard]] std::string end_of(const Member& member, const Ended& ended) const;
  [[nodiscard]] std::string with_log(const Member& member, const std::string& text) const;

  Cluster& cluster_;
  Signals& signals_;
  Progress& progress_;
  zmq::context_t context_{1};
  std::optional<StatusClient> client_;
  Stage stage_ = Stage::binding;
  Clock::time_point stage_until_;  // binding, leaving, doubtful: patience; stopping: when to kill
  Clock::time_point ask_at_;
  Clock::time_point heard_at_;  // the lead's last answer, or when it was first asked
  std::optional<Status> status_;
  std::string doubt_;  // what is said if the lead gives no reason
  int exit_code_ = 0;
};

}  // namespace ballast
