#include "cli/running/supervisor.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>

#include "cli/keys/operator_keys.h"
#include "cli/telling/exit_codes.h"
#include "common/command/exit_codes.h"
#include "common/telling/changes.h"

namespace ballast {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kBindPatience{60};
constexpr seconds kLeavePatience{20};
constexpr milliseconds kReasonPatience{700};
constexpr seconds kStopPatience{3};
constexpr seconds kLeadsEnd{10};           // after its patience with a stop, in which the lead ends the job itself
constexpr seconds kEarlyLeavePatience{5};  // with who says that the job is over before the lead has told us
// Who has left well may have done so for the job's end, of which the lead tells us as soon as it tells others. An
// answer that comes so much later knows.
constexpr milliseconds kDepartedPatience{300};
constexpr seconds kNoticedLeadSilence{2};
constexpr milliseconds kMendEvery{500};  // processes.json
constexpr seconds kStartEvery{1};        // a process that could not be started
constexpr std::size_t kLogLines = 8;

// Of a process that was told to end and had to leave something undone.
bool is_end_for_signal(const Exit& exit) {
  return !exit.by_signal && (exit.number == kExitSignal + SIGTERM || exit.number == kExitSignal + SIGINT);
}

// Of one that was told to end and leaves nothing undone, while the job goes on.
bool is_as_told(const Exit& exit) { return !exit.by_signal && exit.number == kExitUnfinished; }

}  // namespace

Supervisor::Supervisor(Cluster& cluster, Signals& signals, Progress& progress, bool resumed, bool paused,
                       seconds stop_patience)
    : cluster_(cluster),
      signals_(signals),
      progress_(progress),
      lead_(paused),
      scaler_(cluster, progress),
      training_time_(resumed),
      stop_patience_(stop_patience) {}

int Supervisor::watch() {
  Poll poll;
  poll.add(signals_.fd());
  cluster_.start_lead();
  stage_until_ = Clock::now() + kBindPatience;
  while (cluster_.live() > 0 || (stage_ != Stage::stopping && cluster_.is_any_due())) {
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
  if (lead_.take(Clock::now())) {
    on_status();
  }
  on_time(Clock::now());
}

void Supervisor::connect(const std::string& lead, Poll& poll) {
  lead_.connect(lead, operator_keys(cluster_.folder().string(), {}), poll, Clock::now());
  stage_ = Stage::running;
  cluster_.start_others(lead);
  const auto page = cluster_.page();
  EventStream::Json fields = {{"address", lead}};
  if (!page.empty()) {
    fields["page"] = page;
    progress_.line("the job's page is at " + page);
  }
  progress_.event("lead", std::move(fields));
}

void Supervisor::on_signal(int signal) {
  if (signal == SIGCHLD) {
    return;  // reaped in any case
  }
  if (signal == SIGPIPE && (stage_ == Stage::stopping || interrupted_)) {
    return;  // nobody reads what we say: that is known
  }
  if (stage_ == Stage::stopping || interrupted_) {
    progress_.error("killing all processes");
    stage_ = Stage::stopping;
    exit_code_ = kExitSignal + signal;
    cluster_.signal_all(SIGKILL);
    return;
  }
  interrupted_ = Interruption{signal, Clock::now() + stop_patience_ + kLeadsEnd};
  if (stage_ != Stage::running) {
    progress_.error("stopping all processes; once more to kill them at once");
    return stop(kExitSignal + signal);
  }
  progress_.error("stopping the job with a snapshot, for which it may take " + std::to_string(stop_patience_.count()) +
                  " s (cluster.stop_patience); once more to kill all processes at once");
  lead_.ask_at_next_turn();
  tell_hindrance();
}

// Though it may have been told long before the stop.
void Supervisor::tell_hindrance() {
  const auto known = status() ? hindrance(*status()) : std::string();
  if (!known.empty() && !std::exchange(interrupted_->told_hindrance, true)) {
    progress_.error("no snapshot can be taken as long as this lasts: " + known);
  }
}

void Supervisor::on_ended(const Ended& ended) {
  auto* member = cluster_.ended(ended.pid);
  if (member == nullptr) {
    return;
  }
  progress_.event("process", {{"name", member->name()}, {"pid", ended.pid}, {"ended", describe(ended.exit)}});
  if (member->role == Role::server) {
    on_server_ended(*member, ended);
  } else {
    on_worker_ended(*member, ended.exit);
  }
}

void Supervisor::on_server_ended(Member& server, const Ended& ended) {
  if (stage_ == Stage::stopping || stage_ == Stage::doubtful) {
    return;
  }
  if (ended.exit.by_signal || is_end_for_signal(ended.exit)) {
    return on_server_killed(server, ended);
  }
  if (ended.exit.good() || is_as_told(ended.exit)) {
    return on_server_left(server, ended);
  }
  if (stage_ == Stage::leaving) {
    progress_.warn(server.name() + " " + describe(ended.exit) + ", after the job's end was durable");
    return;
  }
  if (!lead_.is_connected() || server.index == 0) {
    return fail(end_of(server, ended));
  }
  // It gave up by itself: the lead may know more than this shard.
  doubt_ = end_of(server, ended);
  doubted_ = server.name() + " " + describe(ended.exit);
  stage_ = Stage::doubtful;
  stage_until_ = Clock::now() + kReasonPatience;
  lead_.ask_now();
}

void Supervisor::on_server_killed(Member& server, const Ended& ended) {
  if (can_start_again(server)) {
    if (!start_again_later(server, ended.exit)) {
      fail(with_log(server, server.name() + " " + server.death));
    }
    return;
  }
  progress_.warn(server.name() + " " + describe(ended.exit) + ", after the job's end was durable");
}

// While the servers leave, only one that may still have to write the job's end is of use: it is told by a lead that
// lives, or is the lead. After a stop, a new life would begin to train again.
bool Supervisor::can_start_again(const Member& member) const {
  if (stage_ != Stage::leaving) {
    return true;
  }
  const auto& lead = cluster_.members().front();
  return !lead_.is_in(JobPhase::stopped) && (member.index == 0 || lead.pid != 0 || lead.due);
}

void Supervisor::on_server_left(Member& server, const Ended& ended) {
  if (stage_ == Stage::binding) {
    return fail(end_of(server, ended));
  }
  // Its last words may have come, and not have been read yet.
  while (lead_.take(Clock::now())) {
    on_status();
  }
  if (stage_ != Stage::running) {
    return;
  }
  if (server.index == 0 && ended.exit.good() && cluster_.has_finished() == false) {
    lead_.has_stopped();
    return on_over();
  }
  depart(server, ended.exit, server.index == 0 ? kDepartedPatience : milliseconds(kEarlyLeavePatience));
}

// It is started again when the lead says that the job goes on, or after that patience.
void Supervisor::depart(Member& member, const Exit& exit, milliseconds patience) {
  member.death = is_as_told(exit) ? "left as it was told to" : "left for the end of the job";
  member.departed = Clock::now();
  member.due = *member.departed + patience;
}

// The lead lives, and the job is not over.
void Supervisor::start_departed(Clock::time_point now) {
  for (auto& member : cluster_.members()) {
    if (member.departed && member.due && now - *member.departed >= kDepartedPatience) {
      member.due = now;
    }
  }
}

void Supervisor::leave() {
  stage_ = Stage::leaving;
  stage_until_ = Clock::now() + kLeavePatience;
  for (auto& member : cluster_.members()) {
    if (member.role == Role::worker || member.departed) {
      member.due.reset();
    }
  }
}

void Supervisor::on_worker_ended(Member& worker, const Exit& exit) {
  const bool was_told = std::exchange(worker.told_to_go, false);
  if (stage_ != Stage::running) {
    return;
  }
  if (was_told) {
    return on_worker_told_to_go(worker);
  }
  if (exit.good() || is_as_told(exit)) {
    depart(worker, exit, kEarlyLeavePatience);
    lead_.ask_now();
    return;
  }
  if (!exit.by_signal && exit.number == kExitUsage) {
    return give_up(worker, worker.name() + " cannot read the job's data: " + last_words(worker), Outlook::bad_data,
                   kExitBadJob);
  }
  if (!exit.by_signal && exit.number == kExitForGood) {
    return give_up(worker, worker.name() + " cannot serve: " + last_words(worker), Outlook::ends_again, 1);
  }
  if (!start_again_later(worker, exit)) {
    return give_up(worker, with_log(worker, worker.name() + " " + worker.death), Outlook::open, 1);
  }
  // It may have been told of the job's failure before us: then there is nothing to start again.
  lead_.ask_now();
}

// However it ended. It may be wanted again meanwhile.
void Supervisor::on_worker_told_to_go(Member& worker) {
  progress_.line(worker.name() + " has left");
  if (worker.wanted) {
    worker.due = Clock::now();
  }
}

// A run that has gone well without an added worker goes on without it.
void Supervisor::give_up(Member& worker, const std::string& why, Outlook outlook, int exit_code) {
  if (worker.added) {
    cluster_.give_up(worker, why);
    progress_.warn(why + "\nthe run goes on without it");
    return;
  }
  outlook_ = outlook;
  fail(why, exit_code);
}

// Returns false if it died too often.
bool Supervisor::start_again_later(Member& member, const Exit& exit) {
  member.death = describe(exit);
  const auto life = std::chrono::duration_cast<milliseconds>(Clock::now() - member.started);
  const auto delay = member.policy.died_after(life);
  if (!delay) {
    member.death += ", the " + std::to_string(RestartPolicy::kShortLives) + "th time in a row within " +
                    std::to_string(RestartPolicy::kShortLife.count() / 1000) + " s of its start";
    return false;
  }
  member.due = Clock::now() + *delay;
  return true;
}

void Supervisor::on_status() {
  training_time_.observe(*status());
  progress_.show(*status(), Clock::now());
  if (!lead_.is_over()) {
    if (interrupted_) {
      tell_hindrance();
    }
    start_departed(Clock::now());
    return;
  }
  lead_.say_seen();
  on_over();
}

void Supervisor::on_over() {
  if (lead_.is_in(JobPhase::failed)) {
    if (stage_ != Stage::stopping) {
      fail("the job failed: " + status()->failure + (doubt_.empty() ? "" : "\n" + doubt_));
    }
    return;
  }
  if (lead_.is_in(JobPhase::stopped) && stage_ != Stage::stopping) {
    exit_code_ = interrupted_ ? kExitSignal + interrupted_->signal : kExitStopped;
  }
  if (stage_ == Stage::doubtful) {
    progress_.warn(doubted_ + ", after the job's end was durable");
  }
  if (stage_ == Stage::running || stage_ == Stage::doubtful) {
    leave();
  }
}

void Supervisor::on_time(Clock::time_point now) {
  if (stage_ == Stage::binding) {
    progress_.waiting("waiting for shard 0 to open its database and listen", now);
  }
  if (now >= stage_until_) {
    on_late();
  }
  if (stage_ == Stage::running) {
    show_silence(now);
    if (interrupted_ && now >= interrupted_->until) {
      progress_.warn("the lead has not stopped the job in that time: all processes are stopped");
      stop(kExitSignal + interrupted_->signal);
    }
  }
  if (stage_ == Stage::binding || stage_ == Stage::running || stage_ == Stage::leaving) {
    start_due(now);
  }
  if (stage_ != Stage::stopping) {
    lead_.ask(interrupted_.has_value(), now);
  }
  if (stage_ != Stage::binding) {
    scaler_.turn(now, status(), why_not_scaled());
  }
  mend_list(now);
}

std::string Supervisor::why_not_scaled() const {
  if (stage_ == Stage::running && !interrupted_) {
    return {};
  }
  return interrupted_ ? "the run is being stopped" : "the run is at its end";
}

// On a full disk each attempt is a write.
void Supervisor::mend_list(Clock::time_point now) {
  if (now < mend_at_) {
    return;
  }
  mend_at_ = now + kMendEvery;
  if (const auto refusal = cluster_.mend_list(); refusal != told_refusal_) {
    if (refusal.empty()) {
      progress_.line("processes.json is up to date again");
    } else {
      progress_.warn(refusal + "; it is tried again");
    }
    told_refusal_ = refusal;
  }
}

void Supervisor::on_late() {
  switch (stage_) {
    case Stage::binding:
      return fail(with_log(cluster_.members().front(), "shard 0 has not said where the lead listens for " +
                                                           std::to_string(kBindPatience.count()) + " s"));
    case Stage::doubtful:
      return fail(doubt_);
    case Stage::leaving:
      progress_.error(who_stayed());
      return stop(exit_code_);
    case Stage::stopping:
      return cluster_.signal_all(SIGKILL);
    case Stage::running:
      return;  // it takes what time it takes
  }
}

void Supervisor::show_silence(Clock::time_point now) {
  const auto silent = lead_.silent(now);
  if (silent >= kNoticedLeadSilence) {
    progress_.waiting("waiting for the lead (shard 0) to answer, for " + std::to_string(silent.count()) + " s", now);
  }
}

void Supervisor::start_due(Clock::time_point now) {
  for (auto& member : cluster_.members()) {
    if (!member.due || now < *member.due) {
      continue;
    }
    // In the meantime everybody may have left.
    if (!can_start_again(member)) {
      member.due.reset();
    } else {
      start_again(member, now);
    }
  }
}

// What keeps it from being started is no fault of its own, and may pass: a disk, a folder, too many processes. So it
// does not count as a short life, and the others go on meanwhile.
void Supervisor::start_again(Member& member, Clock::time_point now) {
  if (member.refusal.empty() && !member.fresh) {
    progress_.warn(member.name() + " " + member.death + "; starting it again");
  }
  const auto refusal = cluster_.start_again(member);
  member.departed.reset();
  if (refusal.empty()) {
    progress_.event("process", {{"name", member.name()}, {"pid", member.pid}, {"started_again", member.restarts}});
  } else {
    member.due = now + kStartEvery;
    if (refusal != member.refusal) {
      progress_.warn(member.name() + " is not there: " + refusal + "; it is tried again");
    }
  }
  member.refusal = refusal;
}

void Supervisor::fail(const std::string& text, int exit_code) {
  progress_.error(text);
  stop(exit_code);
}

void Supervisor::stop(int exit_code) {
  stage_ = Stage::stopping;
  stage_until_ = Clock::now() + kStopPatience;
  exit_code_ = exit_code;
  cluster_.signal_all(SIGTERM);
}

// A server may wait for room on its disk: its log says so.
std::string Supervisor::who_stayed() const {
  std::string text =
      "the job is over, but these did not leave in " + std::to_string(kLeavePatience.count()) + " s and are stopped:";
  for (const auto& member : cluster_.members()) {
    if (member.pid != 0) {
      text += "\n" + with_log(member, member.name());
    }
  }
  return text;
}

// Why it ended by itself, in its own words: the text of its log's last line.
std::string Supervisor::last_words(const Member& member) const {
  static constexpr std::string_view kError = " error ";
  const auto log = cluster_.log_of(member);
  const auto lines = last_lines(log, 1);
  auto words = lines.empty() ? std::string() : lines.back();
  if (const auto level = words.find(kError); level != std::string::npos) {
    const auto role = words.find(' ', level + kError.size());  // which the log's lines have behind the level
    words.erase(0, role == std::string::npos ? level + kError.size() : role + 1);
  }
  return words + "\n  its log is " + log.string();
}

std::string Supervisor::end_of(const Member& member, const Ended& ended) const {
  const auto where = status() ? " at step " + std::to_string(status()->step) : std::string();
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
