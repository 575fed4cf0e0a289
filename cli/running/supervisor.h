// Watches over a local run: starts it, shows how it goes, starts lost processes again, and ends it.
//
// A process that was told to end (SIGTERM) and loses nothing by it is started again as soon as the lead says that the
// job goes on. A process that was
// killed by a signal, or ended for one, is started again, unless that happens again and again; one that ends by itself
// with a message would only say it again, and so would a worker that cannot serve or cannot read the data: all workers
// read the same ones here. One that cannot be started is tried again, whatever it lasts. A worker that `ballast scale`
// has added is given up in these cases, and the run goes on as it did without it. One thread, one
// loop: it waits for signals (a child's end is one) and for the lead's answers. The courses it takes:
//   binding -> running -> leaving               the job finished or was stopped: wait for the processes to leave
//                      -> doubtful -> stopping  a shard gave up: a moment for the lead's reason
//              anywhere -> stopping             SIGTERM to all, SIGKILL after a while
// The first signal asks the lead for a stop with a snapshot, a second one kills at once. The lead ends without a
// snapshot when it is out of patience with the stop (cluster.stop_patience); a lead that is not there is not waited for
// longer.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/asking/lead_talk.h"
#include "cli/processes/signals.h"
#include "cli/running/cluster.h"
#include "cli/running/resume.h"
#include "cli/running/scaler.h"
#include "cli/telling/progress.h"
#include "cli/telling/training_time.h"
#include "protocol/messages.h"

namespace ballast {

class Supervisor {
 public:
  // All must outlive it. `resumed`: the job began in an earlier run; `paused`: and was paused, which is over now.
  // `stop_patience`: cluster.stop_patience.
  Supervisor(Cluster& cluster, Signals& signals, Progress& progress, bool resumed, bool paused,
             std::chrono::seconds stop_patience);

  // Returns when no process is left: 0 finished, 1 failed, kExitBadJob: its data cannot be read as the job says,
  // kExitStopped, or kExitSignal + signal when stopped by one.
  int watch();
  // The lead's last word; nothing if there never was one.
  [[nodiscard]] const std::optional<Status>& status() const { return lead_.status(); }
  // What a run that goes on would meet.
  [[nodiscard]] Outlook outlook() const { return outlook_; }
  [[nodiscard]] const TrainingTime& training_time() const { return training_time_; }

 private:
  enum class Stage { binding, running, leaving, doubtful, stopping };
  // By the user.
  struct Interruption {
    int signal = 0;
    Clock::time_point until;      // then the processes are stopped, whatever the lead says
    bool told_hindrance = false;  // of the stop
  };

  void turn(Poll& poll);
  void on_signal(int signal);
  void on_ended(const Ended& ended);
  void on_server_ended(Member& server, const Ended& ended);
  void on_server_killed(Member& server, const Ended& ended);
  void on_server_left(Member& server, const Ended& ended);
  static void depart(Member& member, const Exit& exit, std::chrono::milliseconds patience);
  void start_departed(Clock::time_point now);
  void on_worker_ended(Member& worker, const Exit& exit);
  void on_worker_told_to_go(Member& worker);
  void give_up(Member& worker, const std::string& why, Outlook outlook, int exit_code);
  bool start_again_later(Member& member, const Exit& exit);
  void on_status();
  void on_over();
  void on_time(Clock::time_point now);
  void connect(const std::string& lead, Poll& poll);
  void on_late();
  void tell_hindrance();
  void leave();
  void start_due(Clock::time_point now);
  void start_again(Member& member, Clock::time_point now);
  void mend_list(Clock::time_point now);
  void show_silence(Clock::time_point now);
  void fail(const std::string& text, int exit_code = 1);
  void stop(int exit_code);
  [[nodiscard]] bool can_start_again(const Member& member) const;
  [[nodiscard]] std::string why_not_scaled() const;
  [[nodiscard]] std::string who_stayed() const;
  [[nodiscard]] std::string last_words(const Member& member) const;
  [[nodiscard]] std::string end_of(const Member& member, const Ended& ended) const;
  [[nodiscard]] std::string with_log(const Member& member, const std::string& text) const;

  Cluster& cluster_;
  Signals& signals_;
  Progress& progress_;
  LeadTalk lead_;
  Stage stage_ = Stage::binding;
  Clock::time_point stage_until_;  // binding, leaving, doubtful: patience; stopping: when to kill
  Clock::time_point mend_at_;
  Scaler scaler_;
  TrainingTime training_time_;
  std::chrono::seconds stop_patience_;
  std::optional<Interruption> interrupted_;
  std::string told_refusal_;  // of processes.json
  std::string doubt_;         // what is said if the lead gives no reason
  std::string doubted_;       // who that is about, and how it ended
  Outlook outlook_ = Outlook::open;
  int exit_code_ = 0;
};

}  // namespace ballast
