#include "common/telling/changes.h"

#include <algorithm>

#include "common/telling/amounts.h"

namespace ballast {

namespace {

// The name of who is waited for stays, the time grows: "shard 1 (lane 0), not heard of for 1200 ms, ...".
std::string who(const std::string& waits_for) { return waits_for.substr(0, waits_for.find(',')); }

void add_rollback(std::vector<Change>& lines, const Status& before, const Status& now) {
  if (before.timeline == 0 || now.timeline <= before.timeline) {
    return;
  }
  std::string line = "the job goes on from the snapshot of step " + std::to_string(now.base.step) + " (timeline " +
                     std::to_string(now.timeline) + ")";
  if (now.rolled_back_steps > before.rolled_back_steps) {
    const auto again = now.rolled_back_steps - before.rolled_back_steps;
    line += ": " + count_text(again, "step") + (again == 1 ? " is" : " are") + " trained again";
  }
  lines.push_back({line});
}

void add_counts(std::vector<Change>& lines, const Status& before, const Status& now) {
  if (now.skipped_steps > before.skipped_steps) {
    lines.push_back({count_text(now.skipped_steps - before.skipped_steps, "step") +
                     " skipped: the gradient was not finite; " + std::to_string(now.skipped_steps) + " so far"});
  }
  if (now.snapshots_missed > before.snapshots_missed) {
    lines.push_back({count_text(now.snapshots_missed - before.snapshots_missed, "snapshot") +
                     " missed; the newest complete one is of step " + std::to_string(now.snapshot)});
  }
}

void add_trouble(std::vector<Change>& lines, const Status& before, const Status& now) {
  const auto trouble = all_trouble(now);
  if (const auto known = all_trouble(before); trouble != known) {
    lines.push_back({trouble.empty() ? "over: " + known : "trouble: " + trouble, !trouble.empty()});
  }
  if (!now.waits_for.empty() && who(now.waits_for) != who(before.waits_for)) {
    lines.push_back({"waiting for " + now.waits_for, now.phase != JobPhase::assembling});  // servers come one by one
  }
}

void add_pause(std::vector<Change>& lines, const Status& before, const Status& now) {
  if (now.phase == JobPhase::paused && before.phase != JobPhase::paused) {
    lines.push_back({"paused at step " + std::to_string(now.step) + "; `ballast resume` lets it go on", false});
  }
  if (before.phase == JobPhase::paused && now.phase != JobPhase::paused && now.phase != JobPhase::stopped) {
    lines.push_back({"no longer paused", false});
  }
}

}  // namespace

std::vector<Change> setbacks_between(const Status& before, const Status& now) {
  std::vector<Change> lines;
  add_rollback(lines, before, now);
  add_counts(lines, before, now);
  return lines;
}

std::vector<Change> changes_between(const Status& before, const Status& now) {
  auto lines = setbacks_between(before, now);
  add_trouble(lines, before, now);
  add_pause(lines, before, now);
  return lines;
}

std::string hindrance(const Status& status) {
  if (!status.trouble.empty()) {
    return status.trouble;
  }
  return status.waits_for.empty() ? std::string() : "waiting for " + who(status.waits_for);
}

// A pause comes at the end of a step; one that copies its snapshot has had it.
std::string awaited_by(const Status& status) {
  const bool needs_workers = status.phase == JobPhase::training || status.phase == JobPhase::evaluating ||
                             (status.phase == JobPhase::pausing && !status.copies.awaited);
  const bool has_some =
      std::any_of(status.sessions.begin(), status.sessions.end(), [](const auto& session) { return session.live; });
  return status.waits_for.empty() && needs_workers && !has_some ? kNoWorker : status.waits_for;
}

}  // namespace ballast
