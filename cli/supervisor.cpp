#include "cli/supervisor.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

namespace ballast {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kAskEvery{250};
constexpr seconds kBindPatience{60};
constexpr seconds kLeavePatience{20};
constexpr milliseconds kReasonPatience{700};
constexpr seconds kStopPatience{3};
constexpr seconds kEarlyLeavePatience{5};  // a worker that says the job is over before the lead has told us
constexpr seconds kNoticedSilence{2};
constexpr std::size_t kLogLines = 8;

}  // namespace

Supervisor::Supervisor(Cluster& cluster, Signals& signals, Progress& progress)
    : cluster_(cluster), signals_(signals), progress_(progress) {}

int Supervisor::watch() {
  Poll poll;
  poll.add(signals_.fd());
  cluster_.start_lead();
  stage_until_ = Clock::now() + kBindPatience;
  while (cluster_.live() > 0) {
    turn(poll);
  }
  progress_.clear();
  return exit_code_;
}

void Supervisor::turn(Poll& poll) {
  poll.wait(stage_ == Stage::binding ? 10 : 50);
  while (const auto signal = signals_.next()) {
    on_signal(*signal);
  }
  while (const auto ended = reap()) {
    on_ended(*ended);
  }
  if (stage_ == Stage::binding) {
    if (const auto lead = cluster_.lead_address()) {
      connect(*lead, poll);
    }
  }
  if (client_) {
    if (auto status = client_->take()) {
      on_status(std::move(*status));
    }
  }
  on_time(Clock::now());
}

void Supervisor::connect(const std::string& lead, Poll& poll) {
  client_.emplace(context_, lead);
  poll.add(client_->socket());
  stage_ = Stage::running;
  heard_at_ = Clock::now();
  cluster_.start_others(lead);
}

void Supervisor::on_signal(int signal) {
  if (signal == SIGCHLD) {
    return;  // reaped in any case
  }
  if (stage_ == Stage::stopping) {
    cluster_.signal_all(SIGKILL);
    return;
  }
  progress_.clear();
  std::fprintf(stderr, "stopping all processes; once more to kill them at once\n");
  stop(128 + signal);
}

void Supervisor::on_ended(const Ended& ended) {
  auto* member = cluster_.ended(ended.pid);
  if (member == nullptr) {
    return;
  }
  if (member->role == Role::server) {
    on_server_ended(*member, ended);
  } else {
    on_worker_ended(*member, ended.exit);
  }
}

void Supervisor::on_server_ended(const Member& server, const Ended& ended) {
  if (stage_ == Stage::stopping || stage_ == Stage::doubtful) {
    return;
  }
  if (stage_ == Stage::leaving && !ended.exit.good()) {
    progress_.line(server.name() + " " + describe(ended.exit) + ", after the job's end was durable");
    return;
  }
  if (ended.exit.good()) {
    if (stage_ == Stage::binding) {
      return fail(end_of(server, ended));
    }
    if (stage_ == Stage::running) {  // its end is durable before it leaves
      stage_ = Stage::leaving;
      stage_until_ = Clock::now() + kLeavePatience;
    }
    return;
  }
  if (ended.exit.by_signal || !client_ || server.index == 0) {
    return fail(end_of(server, ended));
  }
  // It gave up by itself: the lead may know more than this shard.
  doubt_ = end_of(server, ended);
  stage_ = Stage::doubtful;
  stage_until_ = Clock::now() + kReasonPatience;
  client_->ask();
}

void Supervisor::on_worker_ended(Member& worker, const Exit& exit) {
  if (stage_ != Stage::running) {
    return;
  }
  if (exit.good()) {
    worker.death = "left as if the job had finished";
    worker.due = Clock::now() + kEarlyLeavePatience;
    return;
  }
  const auto life = std::chrono::duration_cast<milliseconds>(Clock::now() - worker.started);
  const auto delay = worker.policy.died_after(life);
  if (!delay) {
    return fail(with_log(worker, worker.name() + " " + describe(exit) + ", the " +
                                     std::to_string(RestartPolicy::kShortLives) + "th time in a row within " +
                                     std::to_string(RestartPolicy::kShortLife.count() / 1000) + " s of its start"));
  }
  // It may have been told of the job's failure before us: then there is nothing to start again.
  worker.death = describe(exit);
  worker.due = Clock::now() + *delay;
  client_->ask();
}

void Supervisor::on_status(Status status) {
  status_ = std::move(status);
  heard_at_ = Clock::now();
  progress_.show(*status_, Clock::now());
  if (status_->phase == "finished" && stage_ == Stage::running) {
    stage_ = Stage::leaving;
    stage_until_ = Clock::now() + kLeavePatience;
  }
  if (status_->phase == "finished" || status_->phase == "failed") {
    client_->ask(true);
  }
  if (status_->phase == "failed" && stage_ != Stage::stopping) {
    fail("the job failed: " + status_->failure + (doubt_.empty() ? "" : "\n" + doubt_));
  }
}

void Supervisor::on_time(Clock::time_point now) {
  if (stage_ == Stage::binding) {
    progress_.waiting("waiting for shard 0 to open its database and listen", now);
  }
  if (now >= stage_until_) {
    if (stage_ == Stage::binding) {
      const auto& lead = cluster_.members().front();
      return fail(with_log(
          lead, "shard 0 has not said where the lead listens for " + std::to_string(kBindPatience.count()) + " s"));
    }
    if (stage_ == Stage::doubtful) {
      return fail(doubt_);
    }
    if (stage_ == Stage::leaving) {
      progress_.clear();
      std::fprintf(stderr, "the job has finished, but %zu processes did not leave in %lld s: they are stopped\n",
                   cluster_.live(), static_cast<long long>(kLeavePatience.count()));
      return stop(0);
    }
    if (stage_ == Stage::stopping) {
      cluster_.signal_all(SIGKILL);
    }
  }
  if (stage_ == Stage::running) {
    start_due(now);
    show_silence(now);
  }
  // The lead stays until we have its last word.
  const bool over = status_ && (status_->phase == "finished" || status_->phase == "failed");
  if (client_ && now >= ask_at_ && stage_ != Stage::stopping && !over) {
    ask_at_ = now + kAskEvery;
    client_->ask();
  }
}

void Supervisor::show_silence(Clock::time_point now) {
  const auto silent = std::chrono::duration_cast<seconds>(now - heard_at_);
  if (silent >= kNoticedSilence) {
    progress_.waiting("waiting for the lead (shard 0) to answer, for " + std::to_string(silent.count()) + " s", now);
  }
}

void Supervisor::start_due(Clock::time_point now) {
  for (auto& member : cluster_.members()) {
    if (member.due && now >= *member.due) {
      progress_.line(member.name() + " " + member.death + "; starting it again");
      cluster_.start_again(member);
    }
  }
}

void Supervisor::fail(const std::string& text) {
  progress_.clear();
  std::fprintf(stderr, "%s\n", text.c_str());
  stop(1);
}

void Supervisor::stop(int exit_code) {
  stage_ = Stage::stopping;
  stage_until_ = Clock::now() + kStopPatience;
  exit_code_ = exit_code;
  cluster_.signal_all(SIGTERM);
}

std::string Supervisor::end_of(const Member& member, const Ended& ended) const {
  const auto where = status_ ? " at step " + std::to_string(status_->step) : std::string();
  return with_log(member, member.name() + " (pid " + std::to_string(ended.pid) + ") " + describe(ended.exit) + where +
                              "; the run cannot go on without it");
}

std::string Supervisor::with_log(const Member& member, const std::string& text) const {
  const auto log = cluster_.log_of(member);
  const auto lines = last_lines(log, kLogLines);
  std::string all = text + "\n  its log, " + log.string() + (lines.empty() ? ", is empty" : ", ends with:");
  for (const auto& line : lines) {
    all += "\n    " + line;
  }
  return all;
}

}  // namespace ballast
