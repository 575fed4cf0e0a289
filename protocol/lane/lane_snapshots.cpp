#include "protocol/lane/lane_snapshots.h"

#include <algorithm>

namespace ballast {

namespace {

constexpr std::size_t kFailuresRemembered = 4;

bool contains(const std::vector<SnapshotId>& list, SnapshotId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

void LaneSnapshots::begin(Timeline timeline) {
  timeline_ = timeline;
  due_.clear();
  writing_.clear();
  held_.clear();
  failed_.clear();
  trouble_.clear();
}

bool LaneSnapshots::order(Step step, std::size_t chunks) {
  const SnapshotId id{timeline_, step};
  const bool is_over = !keep_.empty() && id <= keep_.back();
  if (is_over || due_.contains(step) || contains(writing_, id) || contains(held_, id) || contains(failed_, id)) {
    return false;
  }
  due_[step] = chunks;
  if (chunks == 0) {
    write(step);
  }
  return true;
}

bool LaneSnapshots::take(Step step) {
  if (--due_.at(step) > 0) {
    return false;
  }
  write(step);
  return true;
}

void LaneSnapshots::write(Step step) {
  due_.erase(step);
  writing_.push_back({timeline_, step});
}

bool LaneSnapshots::durable(SnapshotId id) {
  if (std::erase(writing_, id) == 0) {
    return false;  // of an older timeline
  }
  held_.push_back(id);
  store(id);
  trouble_.clear();
  return true;
}

void LaneSnapshots::store(SnapshotId id) {
  const auto place = std::lower_bound(stored_.begin(), stored_.end(), id);
  if (place == stored_.end() || *place != id) {
    stored_.insert(place, id);
  }
}

bool LaneSnapshots::failed(SnapshotId id, const std::string& text) {
  if (std::erase(writing_, id) == 0) {
    return false;
  }
  if (failed_.size() == kFailuresRemembered) {
    failed_.erase(failed_.begin());
  }
  failed_.push_back(id);
  trouble_ = text;
  return true;
}

// The list changes only when a newer snapshot is complete; an older plan, come late, knows less.
bool LaneSnapshots::keep(const std::vector<SnapshotId>& keep) {
  if (keep.empty() || (!keep_.empty() && keep.back() <= keep_.back())) {
    return false;
  }
  keep_ = keep;
  std::erase_if(held_, [&](const SnapshotId& id) { return id <= keep_.back(); });
  std::erase_if(stored_, [&](const SnapshotId& id) { return id < keep_.back() && !contains(keep_, id); });
  return true;
}

std::vector<SnapshotId> LaneSnapshots::stored(std::size_t most) const {
  const auto count = std::min(stored_.size(), most);
  return {stored_.end() - static_cast<std::ptrdiff_t>(count), stored_.end()};
}

void LaneSnapshots::tell(LaneReport& report) const {
  report.held = held_;
  for (const auto& [step, left] : due_) {
    report.writing.push_back({timeline_, step});
  }
  report.writing.insert(report.writing.end(), writing_.begin(), writing_.end());
  report.failed = failed_;
}

}  // namespace ballast
