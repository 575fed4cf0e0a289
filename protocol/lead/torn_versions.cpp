#include "protocol/lead/torn_versions.h"

namespace ballast {

namespace {

// The furthest lane and the one furthest behind. Without chunks a lane has reached nothing, and its open step is the
// job's end: it is neither.
TornVersions::Tear ends_of(const ShardRoster::Lanes& lanes, Step steps) {
  TornVersions::Tear ends;
  ends.open = steps;
  const std::vector<SessionId>* by = nullptr;
  for (const auto& [id, lane] : lanes) {
    const auto& report = lane.report;
    if (report.rounds.reached > ends.reached) {
      ends.ahead = id;
      ends.reached = report.rounds.reached;
      by = &report.rounds.reached_by;
    }
    if (report.open_step < ends.open) {
      ends.behind = id;
      ends.open = report.open_step;
    }
  }
  if (by != nullptr) {
    ends.by = *by;
  }
  return ends;
}

}  // namespace

void TornVersions::observe(const ShardRoster::Lanes& lanes, Step steps, Micros now) {
  auto ends = ends_of(lanes, steps);
  if (ends.reached <= ends.open + 1) {
    suspect_.reset();
    return;
  }
  if (!suspect_ || suspect_->tear.behind != ends.behind || suspect_->tear.open != ends.open) {
    suspect_ = {std::move(ends), now, kNoLeadNumber};
    return;
  }
  // What the lane ahead had reported when the other was asked is what the answer counts against.
  if (suspect_->asked == kNoLeadNumber) {
    suspect_->tear = std::move(ends);
  } else if (lanes.at(suspect_->tear.behind).report.plan >= suspect_->asked) {
    found_ = suspect_->tear;
  }
}

std::optional<LaneId> TornVersions::to_be_asked(Micros now) const {
  const bool lasts = suspect_ && suspect_->asked == kNoLeadNumber && now >= suspect_->since + after_;
  return lasts ? std::optional(suspect_->tear.behind) : std::nullopt;
}

void TornVersions::asked(LeadNumber number) { suspect_->asked = number; }

void TornVersions::rewind() {
  suspect_.reset();
  found_.reset();
}

}  // namespace ballast
