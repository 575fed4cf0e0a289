#include "cli/asking/watch.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/asking/finished_run.h"
#include "cli/asking/lead_address.h"
#include "cli/asking/status_client.h"
#include "cli/keys/operator_keys.h"
#include "cli/processes/signals.h"
#include "cli/telling/exit_codes.h"
#include "cli/telling/status_events.h"
#include "cli/telling/summary.h"
#include "cli/telling/training_time.h"
#include "common/command/exit_codes.h"

namespace ballast {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr seconds kNoticedSilence{2};

// The lead's time and examples from the first word on that we had from it: a job may have trained for days before.
class Watched {
 public:
  void observe(const Status& status) {
    time_.observe(status);
    if (!before_) {
      before_ = time_.seconds();
    }
  }
  [[nodiscard]] double seconds() const { return time_.seconds() - before_.value_or(0); }
  [[nodiscard]] double examples_per_second() const {
    return seconds() > 0 ? static_cast<double>(time_.examples()) / seconds() : 0;
  }

 private:
  TrainingTime time_{true};
  std::optional<double> before_;
};

class Watch {
 public:
  explicit Watch(const WatchOptions& options)
      : patience_(options.patience),
        job_(job_of_run(options.where)),
        lead_(lead_address(options.where)),
        events_(open_events(options.show.events)),
        progress_(stdout, stderr, line_style(options.show, stdout, stderr), events_.get()),
        client_(context_, lead_, operator_keys(options.where, options.keys)) {
    poll_.add(signals_.fd());
    poll_.add(client_.socket());
  }

  int until_the_end() {
    progress_.event("begin", {{"lead", lead_}});
    while (!exit_code_) {
      turn();
    }
    progress_.event("end", {{"outcome", outcome_}, {"exit_code", *exit_code_}});
    return *exit_code_;
  }

 private:
  void turn() {
    if (Clock::now() >= ask_at_) {
      ask_at_ = Clock::now() + kAskEvery;
      client_.ask();
    }
    poll_.wait(kAskEvery.count());
    while (const auto signal = signals_.next()) {
      if (*signal != SIGCHLD) {
        return end("left", kExitSignal + *signal, "no longer watched; the job goes on");
      }
    }
    if (auto status = client_.take()) {
      return on_status(std::move(*status));
    }
    if (const auto why = client_.hopeless()) {
      return end("refused", kExitForGood, *why);
    }
    if (client_.is_refused()) {
      return end("refused", 1, "the lead at " + lead_ + client_.why_silent());
    }
    on_silence();
  }

  void on_status(Status status) {
    if (!heard_) {
      progress_.line("job " + status.job + ", mode " + status.mode + ", lead at " + lead_);
    }
    heard_ = true;
    heard_at_ = Clock::now();
    watched_.observe(status);
    progress_.show(status, heard_at_);
    if (is_over(status.phase)) {
      client_.ask(true);  // the lead need not stay for us
      on_end(status);
    }
  }

  void on_end(const Status& status) {
    if (status.phase == JobPhase::failed) {
      return end("failed", 1, "the job failed: " + status.failure);
    }
    if (status.phase == JobPhase::stopped) {
      progress_.result("stopped at step " + std::to_string(status.step) + " of " + std::to_string(status.steps) +
                       (status.beyond_snapshot ? "; the newest snapshot is of step " : ", with a snapshot of step ") +
                       std::to_string(status.snapshot) +
                       "; it goes on when its servers and workers are started again as they were");
      return end("stopped", kExitStopped, {});
    }
    Summary summary;
    summary.status = status;
    summary.training_seconds = watched_.seconds();
    summary.examples_per_second = watched_.examples_per_second();
    if (job_) {
      summary.best_by = best_by_of(*job_);
      summary.data = &job_->spec.data;
    }
    progress_.result(summary_text(summary, {}) +
                     "the weights are in the databases of its servers: ballast gather, then digest or export\n");
    end("finished", 0, {});
  }

  void on_silence() {
    const auto now = Clock::now();
    const auto silent = std::chrono::duration_cast<seconds>(now - heard_at_);
    const auto why = client_.why_silent();
    if (silent >= patience_) {
      return end("silent", 1,
                 "no lead has answered at " + lead_ + " for " + std::to_string(silent.count()) + " s (--patience)" +
                     (why.empty() ? "; is shard 0's server running, and can this machine reach it?" : why));
    }
    if (silent >= kNoticedSilence) {
      progress_.waiting(
          "waiting for the lead at " + lead_ + " to answer, for " + std::to_string(silent.count()) + " s" + why, now);
    }
  }

  void end(const char* outcome, int exit_code, const std::string& error) {
    if (!error.empty()) {
      progress_.error(error);
    }
    progress_.clear();
    outcome_ = outcome;
    exit_code_ = exit_code;
  }

  seconds patience_;
  std::optional<Job> job_;
  Signals signals_;  // before anything that has threads
  std::string lead_;
  std::unique_ptr<EventStream> events_;
  Progress progress_;
  zmq::context_t context_{1};
  StatusClient client_;
  Poll poll_;
  Watched watched_;
  Clock::time_point ask_at_;
  Clock::time_point heard_at_ = Clock::now();
  bool heard_ = false;
  const char* outcome_ = "";
  std::optional<int> exit_code_;
};

}  // namespace

int watch_job(const WatchOptions& options) { return Watch(options).until_the_end(); }

}  // namespace ballast
