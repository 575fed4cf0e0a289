// The lead's view of the snapshots: which are complete, which are missed, which are kept.
#include <algorithm>
#include <utility>

#include "common/protocol/lead.h"
#include "common/protocol/validation.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

std::set<SnapshotId> Lead::held_by_all() const {
  std::set<SnapshotId> held;
  bool is_first = true;
  for (const auto& [id, lane] : shards_.lanes()) {
    const std::set<SnapshotId> own(lane.report.held.begin(), lane.report.held.end());
    if (std::exchange(is_first, false)) {
      held = own;
    } else {
      std::erase_if(held, [&](const SnapshotId& snapshot) { return !own.contains(snapshot); });
    }
  }
  return held;
}

// Why the snapshot of the step will never be complete: a shard could not write it, or (empty) it is too late.
std::optional<std::string> Lead::why_missed(Step step) const {
  // A shard has lost items before it, perhaps after others were let go on; nobody is let go on at the end.
  const bool is_end = phase_ == Phase::finishing && step == barrier_;
  if (is_ledgered() && step <= no_cut_until_ && !is_end) {
    return std::string();
  }
  const SnapshotId id{timeline(), step};
  const auto lists = [&](const std::vector<SnapshotId>& list) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  for (const auto& [lane_id, lane] : shards_.lanes()) {
    const auto& report = lane.report;
    if (lists(report.failed)) {
      return "shard " + std::to_string(lane_id.shard) + ": " + report.trouble;
    }
    // Nothing lies beyond the end, where lanes without chunks always are.
    const bool is_beyond = report.open_step < config_.steps &&
                           (report.open_step > step || (is_ledgered() && report.reached > updates(step)));
    if (is_beyond && !lists(report.writing) && !lists(report.held)) {
      return std::string();
    }
  }
  return std::nullopt;
}

// Whether an order by a lead before this one still makes a cut. Where items are updates of their own it does only if
// nobody was given work beyond it before all had come to it; at a barrier that always holds.
bool Lead::is_still_a_cut(Step step) const {
  return !is_ledgered() || next_barrier(step - 1) == step || reached_items() <= updates(step);
}

void Lead::observe_snapshots() {
  const auto is_current = [&](const LeadLane& lane) {
    return lane.report.serving && lane.report.timeline == timeline();
  };
  if (!shards_.all(is_current)) {
    return;
  }
  if (is_ledgered()) {
    observe_items();  // by this report as well: a shard that has fallen behind may hold the snapshot with the next one
  }
  const auto is_newer = [&](SnapshotId id) {
    return id.timeline == timeline() && id > book_.current().complete.back();
  };
  for (const auto id : held_by_all()) {
    // Never of another timeline, and never before the training loss up to it is known as well.
    if (is_newer(id) && id.step <= log_.next() && (schedule_.ordered().contains(id.step) || is_still_a_cut(id.step)) &&
        !why_missed(id.step)) {
      complete_snapshot(id);
    }
  }
  for (const auto& [lane_id, lane] : shards_.lanes()) {
    for (const auto id : lane.report.writing) {
      if (is_newer(id) && is_still_a_cut(id.step) && !why_missed(id.step)) {
        schedule_.order(id.step);
      }
    }
  }
  const auto ordered = schedule_.ordered();
  for (const auto step : ordered) {
    if (const auto why = why_missed(step)) {
      miss_snapshot(step, *why);
    }
  }
}

void Lead::complete_snapshot(SnapshotId id) {
  auto& ledger = book_.edit();
  ledger.complete.push_back(id);
  schedule_.close_through(id.step);
  trouble_.clear();
  update_best();
  observe_copies();  // it may be the next to be copied
  forget_superseded(ledger);
  const Step epoch = id.step - id.step % config_.steps_per_epoch;
  log_.forget_before(epoch - std::min(epoch, config_.steps_per_epoch));
}

// The newest stay, the best, the one that is being copied, and the newest that is.
void Lead::forget_superseded(Ledger& ledger) const {
  const auto keep = std::max<std::size_t>(config_.snapshots_kept, 1);
  const auto is_best = [&](SnapshotId known) { return ledger.best == known; };
  auto others = static_cast<std::size_t>(
      std::count_if(ledger.complete.begin(), ledger.complete.end(), [&](SnapshotId known) { return !is_best(known); }));
  std::erase_if(ledger.complete, [&](SnapshotId known) {
    if (is_best(known) || others <= keep) {
      return false;
    }
    --others;
    const bool is_copied = known == ledger.copies.named || known == ledger.copies.complete;
    return known == SnapshotId{} || !is_copied;
  });
}

void Lead::miss_snapshot(Step step, const std::string& why) {
  schedule_.close(step);
  ++book_.edit().snapshots_missed;
  if (!why.empty()) {
    trouble_ = "the snapshot of step " + std::to_string(step) + " could not be written: " + why;
  }
  if (phase_ == Phase::finishing && step == barrier_) {
    return fail(trouble_.empty() ? "the final snapshot, of step " + std::to_string(step) + ", was not taken"
                                 : trouble_);
  }
  if (hold_ == step) {
    if (!why.empty()) {
      return hold_later();
    }
    hold();  // the shards had passed it
  }
}

void Lead::update_best() {
  const auto* best = best_validation(evaluations_.records());
  if (!config_.keep_best || best == nullptr) {
    return;
  }
  for (const auto id : book_.current().complete) {
    if (id.step == best->step && book_.current().best != id) {
      book_.edit().best = id;
    }
  }
}

}  // namespace ballast
