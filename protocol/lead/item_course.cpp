#include "protocol/lead/item_course.h"

#include <algorithm>

namespace ballast {

void ItemCourse::rewind(Step /*base*/) {
  progress_.rewind();
  grants_.rewind();
  resuming_.rewind();
}

// ---- what the shards report

void ItemCourse::observe(const ShardRoster& shards, const std::set<LaneId>& news, Micros now) {
  const auto change = progress_.take(shards, news);
  grants_.observe(change.lost, change.gained, now);
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

// Shards refuse what lies beyond their plans, and who comes back has none yet.
void ItemCourse::hand_out(const std::set<SessionId>& suspects, const ShardRoster& shards, Step limit, Micros now) {
  if (shards.all_serve()) {
    const ItemId end = updates(limit);
    grants_.hand_out(std::min(end, progress_.planned().value_or(end)), suspects, now);
  }
}

void ItemCourse::tell(SessionId session, Step /*limit*/, bool trains, Assign& assign) const {
  if (trains) {
    assign.items.grants = grants_.grants(session);
  } else if (const auto moot = grants_.moot(session)) {
    assign.items.grants = {*moot};  // or it would forget that it computes it, and never say that it is done
  }
}

// ---- barriers and cuts

// What is to be kept must be whole: nobody works on.
Step ItemCourse::next_barrier(Step after, const Evaluations& evaluations) const {
  const Step barrier = evaluations.next_after(after);
  const Step every = rules_.snapshot_every;
  return every == 0 ? barrier : std::min(barrier, (after / every + 1) * every);
}

bool ItemCourse::is_cut(const ShardRoster& shards, Step step, LeadNumber plan) const {
  const auto before = updates(step);
  return shards.all([&](const LeadLane& lane) {
    const auto& items = lane.report.items;
    const bool is_synced = !rules_.journaled || items.synced >= before;
    return lane.report.plan == plan && first_missing(lane.report) >= before && items.reached <= before && is_synced;
  });
}

// ---- shards that resume

void ItemCourse::take_marks(const LaneReport& report) {
  if (rules_.journaled) {
    resuming_.take(report.items.marks);
  }
}

}  // namespace ballast
