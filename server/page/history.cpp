#include "server/page/history.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/telling/amounts.h"
#include "common/telling/changes.h"
#include "common/text/text.h"

namespace ballast {
namespace {

// The newest of what has come since there were so many.
template <typename T>
std::vector<T> newest(const std::deque<T>& all, std::uint64_t ever, std::uint64_t known) {
  const auto count = std::min<std::uint64_t>(ever - std::min(known, ever), all.size());
  return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
}

}  // namespace

void History::tell(std::string_view kind, std::string text, bool is_wrong) {
  told_.push_back({0, 0, std::string(kind), std::move(text), is_wrong});
}

void History::note(const Status& status, Micros now) {
  find_changes(status);
  const std::scoped_lock lock(mutex_);
  const bool has_loss = status.step > 0 && status.recent_loss != 0;
  curve_.add({now, status.step, has_loss ? status.recent_loss : std::numeric_limits<double>::quiet_NaN(),
              status.examples_per_second, status.steps_per_second});
  note_snapshot(status, now);
  keep_events(status, now);
  before_.timeline = status.timeline;
  before_.rolled_back_steps = status.rolled_back_steps;
  before_.skipped_steps = status.skipped_steps;
  before_.snapshots_missed = status.snapshots_missed;
  before_.resumed_shards = status.resumed_shards;
  before_.snapshot = status.snapshot;
  has_before_ = true;
}

void History::find_changes(const Status& status) {
  if (!has_before_) {
    return;
  }
  for (auto& change : setbacks_between(before_, status)) {
    tell(status.timeline > before_.timeline ? "rollback" : "setback", std::move(change.text), change.wrong);
  }
  if (status.resumed_shards > before_.resumed_shards) {
    const auto count = status.resumed_shards - before_.resumed_shards;
    tell("shard", count_text(count, "shard") + " came back within the timeline", false);
  }
}

void History::note_snapshot(const Status& status, Micros now) {
  if (!has_before_ || status.snapshot == before_.snapshot) {
    return;
  }
  snapshots_.push_back({now, status.snapshot});
  ++snapshots_ever_;
  if (snapshots_.size() > kSnapshots) {
    snapshots_.pop_front();
  }
}

// Of many at once the first ones stand for all: hundreds of workers that come together leave room for what came before.
void History::keep_events(const Status& status, Micros now) {
  const auto more = told_.size() - std::min(told_.size(), kAtOnce);
  if (more > 0) {
    const bool is_wrong =
        std::any_of(told_.begin() + kAtOnce, told_.end(), [](const auto& one) { return one.is_wrong; });
    told_.resize(kAtOnce);
    told_.push_back({0, 0, "session", "and " + count_text(more, "more event") + " at the same time", is_wrong});
  }
  for (auto& event : told_) {
    event.at = now;
    event.step = status.step;
    event.text = as_line(event.text, kTextBytes);
    events_.push_back(std::move(event));
    ++events_ever_;
  }
  told_.clear();
  while (events_.size() > kEvents) {
    events_.pop_front();
  }
}

History::Counts History::counts() const {
  const std::scoped_lock lock(mutex_);
  return {curve_.halvings(), curve_.size(), events_ever_, snapshots_ever_};
}

// The last point that was told may have changed since.
History::Part History::since(Counts counts) const {
  const std::scoped_lock lock(mutex_);
  if (counts.halvings != curve_.halvings()) {
    counts.points = 0;
  }
  Part part;
  part.counts = {curve_.halvings(), curve_.size(), events_ever_, snapshots_ever_};
  part.first_point = counts.points == 0 ? 0 : counts.points - 1;
  part.points = curve_.points(part.first_point);
  part.events = newest(events_, events_ever_, counts.events);
  part.snapshots = newest(snapshots_, snapshots_ever_, counts.snapshots);
  return part;
}

}  // namespace ballast
