#include "protocol/lead/snapshot_view.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ballast {

namespace {

bool lists(const std::vector<SnapshotId>& list, SnapshotId id) { return std::ranges::find(list, id) != list.end(); }

}  // namespace

std::set<SnapshotId> SnapshotView::held_by_all() const {
  if (shards_.lanes().empty()) {
    return {};
  }
  const auto& some = shards_.lanes().begin()->second.report.held;
  std::set<SnapshotId> held(some.begin(), some.end());
  std::erase_if(held, [&](const SnapshotId& snapshot) { return snapshot.timeline != timeline_; });
  for (const auto& lane : shards_.lanes()) {
    std::erase_if(held, [&](const SnapshotId& snapshot) { return !lists(lane.second.report.held, snapshot); });
  }
  return held;
}

std::optional<std::string> SnapshotView::why_missed(LaneId id, Step step) const {
  const auto& report = shards_.lanes().at(id).report;
  const SnapshotId snapshot{timeline_, step};
  if (lists(report.failed, snapshot)) {
    return "shard " + std::to_string(id.shard) + ": " + report.trouble;
  }
  const bool is_too_late =
      course_.has_passed(report, step) && !lists(report.writing, snapshot) && !lists(report.held, snapshot);
  return is_too_late ? std::optional(std::string()) : std::nullopt;
}

std::optional<std::string> SnapshotView::why_missed(Step step) const {
  for (const auto& [id, lane] : shards_.lanes()) {
    if (auto why = why_missed(id, step)) {
      return why;
    }
  }
  return std::nullopt;
}

void forget_superseded(Ledger& ledger, std::size_t kept) {
  const auto is_best = [&](SnapshotId known) { return ledger.best == known; };
  auto others = static_cast<std::size_t>(
      std::ranges::count_if(ledger.complete, [&](SnapshotId known) { return !is_best(known); }));
  std::erase_if(ledger.complete, [&](SnapshotId known) {
    if (is_best(known) || others <= kept) {
      return false;
    }
    --others;
    const bool is_copied = known == ledger.copies.named || known == ledger.copies.complete;
    return known == SnapshotId{} || !is_copied;
  });
}

}  // namespace ballast
