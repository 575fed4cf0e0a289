#include "protocol/lead/round_course.h"

#include <algorithm>

namespace ballast {

// Nobody is late for the time in which no work was given out. Of a step that went on meanwhile it was.
void RoundCourse::reopen(Micros now) {
  at(now);
  if (shares_.open() >= limit_) {
    shares_.reopen(at_);
  }
}

void RoundCourse::observe_idle(const ShardRoster& shards, const std::set<LaneId>& news, Micros /*now*/) {
  for (const auto id : news) {
    const auto& report = shards.lanes().at(id).report;
    progress_.take(id, report);
    // Slots count once their step is applied. The chunk that counts may be a version ahead of the lane's others.
    shares_.brought(report.slots_by_session, std::max(report.open_step, report.rounds.reached));
  }
}

void RoundCourse::observe(const ShardRoster& shards, const std::set<LaneId>& news, Micros now) {
  at(now);
  observe_idle(shards, news, now);
  shares_.observe(progress_.open_step(), progress_.missing(), progress_.wanted(), at_);
}

void RoundCourse::members_changed(const std::vector<SessionId>& sessions, Step limit) {
  if (!sessions.empty()) {
    // The step that is open now goes on with the ranges it has; what nobody brings is shared out.
    shares_.divide(sessions, std::min(shares_.open() + 1, limit));
  }
}

void RoundCourse::hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& suspects,
                           const ShardRoster& /*shards*/, Step limit, Micros now) {
  at(now);
  limit_ = limit;
  shares_.hand_out(sessions, suspects, limit, at_);
}

void RoundCourse::rewind(Step base) {
  progress_.rewind();
  shares_.rewind();
  limit_ = 0;
  told_until_ = base;
}

void RoundCourse::tell(SessionId session, SessionStatus& status) const {
  status.held_up = shares_.held_up(session);
  if (const auto* seen = shares_.session(session); seen != nullptr) {
    const auto& progress = seen->progress();
    status.slot_time = progress.slot_time;
    status.lag = seen->lag();
    status.up = progress.up;
    status.down = progress.down;
    status.share = shares_.standing(session, limit_).slots.size();
  }
}

void RoundCourse::tell(Status& status) const {
  status.slots_taken = shares_.taken();
  status.slots_reassigned = shares_.reassigned();
  status.slots_tried = shares_.trials();
}

void RoundCourse::tell(SessionId session, Step limit, bool trains, Assign& assign) {
  assign.generation = shares_.generation();
  assign.rounds.standing = shares_.standing(session, limit);
  if (trains && shares_.open() < limit) {
    assign.rounds.now = shares_.now(session);
  }
  if (const auto& standing = assign.rounds.standing; !standing.slots.empty() && standing.until > standing.from) {
    told_until_ = std::max(told_until_, standing.until);
  }
  if (assign.rounds.now) {
    told_until_ = std::max(told_until_, assign.rounds.now->step + 1);
  }
}

}  // namespace ballast
