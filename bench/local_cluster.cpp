#include "bench/local_cluster.h"

#include <signal.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/process_use.h"
#include "cli/keys/operator_keys.h"
#include "common/job/load.h"

namespace ballast::bench {

namespace {

constexpr std::chrono::seconds kLocalClusterPatience{60};
constexpr Step kWarmUpSteps = 5;
constexpr std::chrono::milliseconds kAskEvery{10};

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Job LocalCluster::effective(const std::string& job) { return make_job(parse_job(job, "the benchmark's job")); }

LocalCluster::LocalCluster(const std::string& job, std::uint32_t workers, bool metrics, const Options& options,
                           bool keys)
    : options_(options), folder_(temporary_.path().string(), "bench"), job_(effective(job)) {
  write_atomically(folder_.job_file(), job_.yaml);
  job_.spec.cluster.workers = workers;
  ClusterOptions cluster_options;
  cluster_options.metrics = metrics;
  cluster_options.keys = keys;
  cluster_.emplace(job_, folder_, cluster_options);
  cluster_->start_lead();
  const auto begin = Clock::now();
  std::optional<std::string> lead;
  while (!(lead = cluster_->lead_address())) {
    watch();
    if (Clock::now() - begin > kLocalClusterPatience) {
      throw std::runtime_error("the server did not begin to listen");
    }
    std::this_thread::sleep_for(kAskEvery);
  }
  cluster_->start_others(*lead);
  client_.emplace(context_, *lead, operator_keys(folder_.path().string(), {}));
}

void LocalCluster::watch() {
  while (const auto signal = options_.signals->next()) {
    if (*signal != SIGCHLD) {
      throw Interrupted{*signal};
    }
  }
  while (const auto ended = reap()) {
    const auto* member = cluster_->ended(ended->pid);
    if (member == nullptr) {
      continue;
    }
    std::string text = member->name() + " " + describe(ended->exit) + " in the middle of the measurement";
    for (const auto& line : last_lines(cluster_->log_of(*member), 5)) {
      text += "\n  " + line;
    }
    throw std::runtime_error(text);
  }
}

std::optional<Status> LocalCluster::look() {
  watch();
  const auto now = Clock::now();
  if (now - asked_ >= kAskEvery) {
    asked_ = now;
    client_->ask();
  }
  Poll poll;
  poll.add(client_->socket());
  poll.wait(static_cast<long>(kAskEvery.count()));
  return client_->take();
}

Status LocalCluster::wait_for(const std::string& what, bool (*reached)(const Status&, std::uint64_t),
                              std::uint64_t argument) {
  return watch_until(
      what, [&](const Status& status) { return reached(status, argument); }, kLocalClusterPatience);
}

Status LocalCluster::watch_until(const std::string& what, const std::function<bool(const Status&)>& reached,
                                 std::chrono::seconds patience) {
  const auto begin = Clock::now();
  while (Clock::now() - begin < patience) {
    auto status = look();
    if (status && status->phase == JobPhase::failed) {
      throw std::runtime_error("the job failed: " + status->failure);
    }
    if (status && reached(*status)) {
      return std::move(*status);
    }
  }
  throw std::runtime_error("after " + std::to_string(patience.count()) + " s the job has not reached " + what);
}

void LocalCluster::wait_for_step(Step step) {
  wait_for(
      "step " + std::to_string(step), [](const Status& status, std::uint64_t wanted) { return status.step >= wanted; },
      step);
}

void LocalCluster::warm_up() { wait_for_step(kWarmUpSteps); }

LocalCluster::Mark LocalCluster::mark(Step step) {
  Mark mark{step, Clock::now(), 0, 0};
  for (const auto& member : cluster_->members()) {
    (member.role == Role::server ? mark.server_cpu_seconds : mark.worker_cpu_seconds) +=
        process_use(member.pid).cpu_seconds;
  }
  return mark;
}

Progressed LocalCluster::measure(double seconds) {
  std::optional<Step> seen;
  std::optional<Mark> first;
  Progressed progressed;
  Time changed;
  Step snapshot = 0;
  const auto begin = Clock::now();
  while (Clock::now() - begin < kLocalClusterPatience + std::chrono::duration<double>(seconds)) {
    const auto status = look();
    if (!status || (seen && status->step == *seen)) {
      continue;
    }
    if (!seen) {
      seen = status->step;
      continue;
    }
    seen = status->step;
    const auto now = mark(status->step);
    if (!first) {
      first = now;
    } else {
      progressed.longest_gap_seconds = std::max(progressed.longest_gap_seconds, seconds_between(changed, now.time));
      progressed.snapshots += status->snapshot > snapshot ? 1 : 0;
    }
    changed = now.time;
    snapshot = status->snapshot;
    if (seconds_between(first->time, now.time) >= seconds) {
      progressed.steps = now.step - first->step;
      progressed.seconds = seconds_between(first->time, now.time);
      progressed.server_cpu_seconds = now.server_cpu_seconds - first->server_cpu_seconds;
      progressed.worker_cpu_seconds = now.worker_cpu_seconds - first->worker_cpu_seconds;
      return progressed;
    }
  }
  throw std::runtime_error("the job stands still at step " + std::to_string(seen.value_or(0)));
}

void LocalCluster::await_death(const Member& member) {
  while (member.pid != 0) {
    while (const auto ended = reap()) {
      cluster_->ended(ended->pid);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Recovered LocalCluster::kill_and_restart(std::uint32_t shard) {
  const auto before = wait_for(
      "an answer", [](const Status&, std::uint64_t) { return true; }, 0);
  auto& member = cluster_->members()[shard];
  const auto killed = Clock::now();
  signal_group(member.pid, SIGKILL);
  await_death(member);
  std::this_thread::sleep_for(RestartPolicy::kFirstDelay);
  cluster_->start_again(member);
  Recovered recovered;
  const auto trains = [](const Status& status, std::uint64_t timeline) {
    return status.timeline > timeline && status.phase == JobPhase::training;
  };
  recovered.base = wait_for("the recovery's end", trains, before.timeline).base.step;
  recovered.seconds_to_training = seconds_since(killed);
  const auto steps = [](const Status& status, std::uint64_t base) { return status.step > base; };
  const auto after = wait_for("a step after it", steps, recovered.base);
  recovered.seconds_to_step = seconds_since(killed);
  recovered.rolled_back_steps = after.rolled_back_steps - before.rolled_back_steps;
  return recovered;
}

void LocalCluster::rest(double seconds) {
  const auto begin = Clock::now();
  while (seconds_since(begin) < seconds) {
    watch();
    std::this_thread::sleep_for(kAskEvery);
  }
}

}  // namespace ballast::bench
