#include "protocol/lead/round_course.h"

#include <algorithm>

namespace ballast {

// Nobody is late for the time in which no work was given out. Of a step that went on meanwhile it was.
void RoundCourse::reopen(Micros now) {
  if (assignments_.open() < limit_) {
    return;
  }
  step_time_.begin(now, assignments_.handed_out());
  assignments_.reopen(now);
}

void RoundCourse::observe_idle(const ShardRoster& shards, const std::set<LaneId>& news, Micros /*now*/) {
  for (const auto id : news) {
    progress_.take(id, shards.lanes().at(id).report);
  }
}

void RoundCourse::observe(const ShardRoster& shards, const std::set<LaneId>& news, Micros now) {
  observe_idle(shards, news, now);
  const Step open = progress_.open_step();
  if (open > assignments_.open()) {
    if (assignments_.observed()) {
      step_time_.end(open - assignments_.open(), now, assignments_.handed_out());
    }
    step_time_.begin(now, assignments_.handed_out());
  }
  assignments_.observe(open, progress_.missing(), now);
  if (step_time_.wants_half(assignments_.handed_out()) && assignments_.half_delivered()) {
    step_time_.half_delivered(now);
  }
}

void RoundCourse::members_changed(const std::vector<SessionId>& sessions, Step limit) {
  if (!sessions.empty()) {
    // Steps that are open now go on with the ranges they have; what nobody delivers is handed out from the reports.
    assignments_.divide(sessions, std::min(assignments_.open() + 2, limit));
  }
}

void RoundCourse::hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& /*suspects*/,
                           const ShardRoster& /*shards*/, Step limit, Micros now) {
  limit_ = limit;
  if (assignments_.open() < limit) {
    assignments_.hand_out(sessions, now, step_time_.deadline());
  }
}

void RoundCourse::rewind(Step base) {
  progress_.rewind();
  assignments_.rewind();
  limit_ = 0;
  told_until_ = base;
}

void RoundCourse::tell(SessionId session, Step limit, bool trains, Assign& assign) {
  assign.generation = assignments_.generation();
  assign.rounds.standing = assignments_.standing(session, limit);
  if (trains) {
    assign.rounds.extra = assignments_.extra(session);
  }
  if (const auto& standing = assign.rounds.standing; !standing.slots.empty() && standing.until > standing.from) {
    told_until_ = std::max(told_until_, standing.until);
  }
  if (assign.rounds.extra) {
    told_until_ = std::max(told_until_, assign.rounds.extra->step + 1);
  }
}

}  // namespace ballast
