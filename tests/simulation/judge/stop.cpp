#include "tests/simulation/judge/stop.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void StopJudge::lead_starts() {
  stop_.reset();  // a stop is not durable
  ticked_at_ = 0;
  at_work_.clear();
}

// A lead that stands still uses up no patience. From 3 ticks on, which no clock makes longer, it may have stood still;
// from half of the shortest silence on it has.
void StopJudge::ticks(Micros clock) {
  const auto span = clock - std::exchange(ticked_at_, clock);
  if (!stop_) {
    return;
  }
  const bool counts = std::exchange(stop_->counts, true);
  stop_->least += counts && span <= 3 * life_.tick ? span : 0;
  stop_->most += span <= std::min(life_.worker_silence.floor, life_.shard_silence.floor) / 2 ? span : 0;
}

void StopJudge::assigned(SessionId session, const Assign& assign) {
  if (assign.timeline != 0) {
    at_work_.insert(session);
  }
}

void StopJudge::commanded(Control::Command command, Lead::Phase phase, Reached reached) {
  if (phase >= Lead::Phase::finished) {
    return;
  }
  const bool was_paused = std::exchange(is_paused_, command == Control::Command::pause);
  if (command == Control::Command::stop) {
    if (!stop_) {
      stop_ = Wish{0, 0, false, was_paused, reached};
    }
  } else if (phase < Lead::Phase::finishing) {
    stop_.reset();
  }
}

void StopJudge::stands(Lead::Phase before, Lead::Phase after) {
  if (after == Lead::Phase::concluding && before != after) {
    gave_up_copy_ = is_patience_over();
    if (stop_) {
      stop_ = Wish{0, 0, false, stop_->was_paused, stop_->reached};
    }
  }
  if (stop_ && after < Lead::Phase::finished && stop_->least > life_.stop_patience) {
    throw Violation("a stop is not over " + std::to_string(stop_->least / 1000) +
                    " ms after its beginning, or that of the writing of the end, though its patience is " +
                    std::to_string(life_.stop_patience / 1000) + " ms");
  }
}

void StopJudge::stopped(Lead::Phase before, const Status& status, const Ledger& durable, Reached reached) const {
  require(stop_.has_value(), "a job is stopped, and nobody has said so");
  const bool tells = status.trouble.find("(cluster.stop_patience)") != std::string::npos;
  require(!tells || is_patience_over(), "a stop is said to be out of patience, and is not");
  require(before < Lead::Phase::finishing || tells, "a job that is about to finish is stopped before patience is over");
  if (before < Lead::Phase::training) {
    return;
  }
  const auto& newest = durable.complete.back();
  require(before != Lead::Phase::finishing || newest != SnapshotId{durable.timeline, status.step},
          "a job is stopped whose last snapshot is complete, instead of being finished");
  const bool works = std::any_of(status.sessions.begin(), status.sessions.end(), [&](const auto& session) {
    return session.live && at_work_.contains(session.session);
  });
  // What was on its way when a pause was wanted may have been applied beyond its snapshot.
  const bool is_same = stop_->reached.timeline == durable.timeline && !stop_->was_paused;
  const auto covered = is_same ? std::min(stop_->reached.version, reached.version) : 0;
  require(tells || !works || life_.updates(newest.step) >= covered,
          "a stop ends before its patience is over, and leaves out what workers had done when it was said");
  // What has just become durable the lead may not know yet.
  require(!status.beyond_snapshot || reached.version > life_.updates(status.snapshot),
          "a stop is said to leave something out, and does not");
}

}  // namespace ballast::simulation
