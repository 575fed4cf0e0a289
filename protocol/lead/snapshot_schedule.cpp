#include "protocol/lead/snapshot_schedule.h"

#include <limits>

namespace ballast {

namespace {

// So many steps before a due version is reached it is decided about at the latest: nobody shall wait for the decision.
constexpr Step kMargin = 8;

}  // namespace

void SnapshotSchedule::rewind(Step base) {
  last_ = base;
  ordered_.clear();
}

std::uint64_t SnapshotSchedule::decide(Step open) {
  std::uint64_t missed = 0;
  while (every_ > 0) {
    const Step due = next_due();
    if (due < open) {
      // Long past: this lead has begun in the midst of the timeline.
    } else if (ordered_.empty() || ordered_.contains(due)) {
      ordered_.insert(due);
    } else if (open + kMargin >= due) {
      ++missed;
    } else {
      break;
    }
    last_ = due;
  }
  return missed;
}

Step SnapshotSchedule::decided_until() const { return every_ > 0 ? next_due() : std::numeric_limits<Step>::max(); }

void SnapshotSchedule::order(Step step) { ordered_.insert(step); }

}  // namespace ballast
