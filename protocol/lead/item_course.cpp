#include "protocol/lead/item_course.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ballast {

void ItemCourse::rewind(Step base) {
  grants_.rewind();
  resuming_.rewind();
  come_to_ = base;
  no_cut_until_ = base;
}

// ---- what the shards report

void ItemCourse::observe(const ShardRoster& shards, Micros now) {
  std::optional<CoveredItems> covered;
  for (const auto& [id, lane] : shards.lanes()) {
    CoveredItems own(lane.report.items.covered);
    if (covered) {
      covered->intersect(own);
    } else {
      covered = std::move(own);
    }
  }
  if (covered) {
    grants_.observe(std::move(*covered), now);
    come_to_ = std::max(come_to_, open_step());
  }
}

// A shard that is back may have fallen behind with a report that never arrived, and caught up since.
void ItemCourse::note_gap(const LaneReport& before, const LaneReport& report) {
  const bool is_back = report.serving && !(before.serving && before.timeline == report.timeline);
  if (is_back && report.sequence != before.sequence + 1) {
    no_cut_until_ = come_to_;
  }
}

// The first item beyond all that were granted by this lead or are part of some chunk.
ItemId ItemCourse::reached(const ShardRoster& shards) const {
  ItemId reached = grants_.granted_until();
  for (const auto& [id, lane] : shards.lanes()) {
    reached = std::max(reached, lane.report.items.reached);
  }
  return reached;
}

// A shard that has lost some items may be further on with others.
Version ItemCourse::first_missing(const LaneReport& report) const {
  const auto& covered = report.items.covered;  // ascending
  return covered.empty() || covered.front().begin > 0 ? 0 : covered.front().end;
}

bool ItemCourse::has_passed(const LaneReport& report, Step step) const {
  return report.open_step < rules_.steps && (report.open_step > step || report.items.reached > updates(step));
}

bool ItemCourse::is_beyond(const ShardRoster& shards, Step step) const {
  return open_step() > step || std::ranges::any_of(shards.lanes(), [&](const auto& lane) {
           const auto& report = lane.second.report;
           return report.open_step < rules_.steps && report.items.reached > updates(step);  // or it has no chunks
         });
}

Step ItemCourse::untouched(const ShardRoster& shards) const {
  return std::max<Step>(shards.furthest(rules_.steps, open_step()),
                        (reached(shards) + rules_.slots - 1) / rules_.slots);
}

// ---- work

void ItemCourse::delivered(SessionId session, const std::vector<LeadNumber>& clocks, Micros now) {
  for (const auto clock : clocks) {
    grants_.delivered(session, clock, now);
  }
}

void ItemCourse::dropped(SessionId session, const std::vector<LeadNumber>& clocks, Micros now) {
  for (const auto clock : clocks) {
    grants_.dropped(session, clock, now);
  }
}

// Shards refuse what lies beyond their plans.
void ItemCourse::hand_out(const ShardRoster& shards, Step limit, Micros now) {
  ItemId end = updates(limit);
  for (const auto& [id, lane] : shards.lanes()) {
    if (lane.report.open_step < rules_.steps) {  // or it has no chunks
      end = std::min(end, lane.report.planned);
    }
  }
  grants_.hand_out(end, now);
}

void ItemCourse::tell(SessionId session, Step /*limit*/, bool trains, Assign& assign) const {
  if (trains) {
    assign.items.grants = grants_.grants(session);
  }
}

// ---- barriers and cuts

// What is to be kept must be whole: nobody works on.
Step ItemCourse::next_barrier(Step after, const Evaluations& evaluations) const {
  const Step barrier = evaluations.next_after(after);
  const Step every = rules_.snapshot_every;
  return every == 0 ? barrier : std::min(barrier, (after / every + 1) * every);
}

// A snapshot is a cut only if nobody works beyond its step before all have come to it.
Step ItemCourse::limit(Step stand, const std::set<Step>& snapshots) const {
  const auto next = snapshots.upper_bound(open_step());
  return next == snapshots.end() ? stand : std::min(stand, *next);
}

// By a lead before this one: it is if nobody was given work beyond it before all had come to it; at a barrier that
// always holds.
bool ItemCourse::is_still_a_cut(Step step, const ShardRoster& shards, const Evaluations& evaluations) const {
  return next_barrier(step - 1, evaluations) == step || reached(shards) <= updates(step);
}

// ---- shards that resume

void ItemCourse::take_marks(const LaneReport& report, Step evaluated) {
  const auto lacks = [&](Step step) { return report.serving && first_missing(report) < updates(step); };
  if (lacks(come_to_)) {
    no_cut_until_ = come_to_;
  }
  if (rules_.journaled) {
    resuming_.take(report.items.marks, lacks(evaluated));
  }
}

// All had come to the barrier and gone on, before a shard lost some of what lies before it: what it makes of that again
// would be built upon what comes after.
bool ItemCourse::is_undone(const ShardRoster& shards, Step barrier) const {
  return rules_.journaled && barrier > open_step() && std::ranges::any_of(shards.lanes(), [&](const auto& lane) {
           const auto& report = lane.second.report;
           return report.open_step < rules_.steps && std::max(report.items.reached, report.planned) > updates(barrier);
         });
}

}  // namespace ballast
