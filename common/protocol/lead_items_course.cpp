// The lead's course where each item is an update of its own: legs between steps where every chunk is whole.
#include <algorithm>
#include <utility>

#include "common/protocol/lead.h"

namespace ballast {

void Lead::observe_items() {
  std::optional<CoveredItems> covered;
  for (const auto& [id, lane] : shards_.lanes()) {
    CoveredItems own(lane.report.covered);
    if (covered) {
      covered->intersect(own);
    } else {
      covered = std::move(own);
    }
  }
  if (covered) {
    items_.observe(std::move(*covered), now_);
    if (open_step() < come_to_) {
      no_cut_until_ = come_to_;
    }
    come_to_ = std::max(come_to_, open_step());
  }
}

// A shard that is back may have fallen behind with a report that never arrived, and caught up since.
void Lead::note_missed_reports(const LaneReport& before, const LaneReport& report) {
  const bool is_back = report.serving && !(before.serving && before.timeline == report.timeline);
  if (is_back && report.sequence != before.sequence + 1) {
    no_cut_until_ = come_to_;
  }
}

// All had come to the step and gone on, before a shard lost some of what lies before it: what it makes of that again
// would be built upon what comes after.
bool Lead::is_passed(Step step) const {
  return step > open_step() && std::any_of(shards_.lanes().begin(), shards_.lanes().end(), [&](const auto& lane) {
           const auto& report = lane.second.report;
           return report.open_step < config_.steps && std::max(report.reached, report.planned) > updates(step);
         });
}

// The first item beyond all that were granted by this lead or are part of some chunk.
ItemId Lead::reached_items() const {
  ItemId reached = items_.granted_until();
  for (const auto& [id, lane] : shards_.lanes()) {
    reached = std::max(reached, lane.report.reached);
  }
  return reached;
}

// Shards refuse what lies beyond their plans.
ItemId Lead::item_limit() const {
  ItemId end = updates(limit());
  for (const auto& [id, lane] : shards_.lanes()) {
    if (lane.report.open_step < config_.steps) {  // or it has no chunks
      end = std::min(end, lane.report.planned);
    }
  }
  return end;
}

}  // namespace ballast
