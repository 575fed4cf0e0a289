// The lead's part in servers that were told to end: all hold at a snapshot, so that nothing is computed twice.
#include "protocol/lead/lead.h"

namespace ballast {

// With a journal a shard that comes back goes on from it: nobody need wait.
bool Lead::holds_for_departure() const {
  return !course_.resumes_shards() && (book_.current().held || !shards_.departing().empty());
}

bool Lead::wants_hold() const { return is_held_by_user() || holds_for_departure(); }

// As for a pause, but where all stand if that can be: whoever is told to end is not waited for long.
void Lead::hold_for_departure() {
  const bool holds_already = book_.current().held || book_.current().pause == Pause::held;
  if (!holds_for_departure() || holds_already || pauses_.waits_for_room()) {
    return;
  }
  if (phase_ == Phase::evaluating) {
    return hold_at_barrier();
  }
  if (phase_ != Phase::training) {
    return;
  }
  const bool is_idle = sessions_.joined().empty() && !course_.has_cuts();
  const Step here = course_.untouched(shards_);
  if (is_idle && here < config_.steps && !snapshots().why_missed(here)) {
    hold_here(here);
  } else if (!pauses_.hold()) {
    pauses_.expect_little();
    hold();
  }
}

// The evaluation may take longer than a server is given; the next timeline begins it anew.
void Lead::hold_at_barrier() {
  if (pauses_.hold() == barrier_ || snapshots().why_missed(barrier_)) {
    return;
  }
  if (book_.current().complete.back().step != barrier_) {
    keep(barrier_);
  }
  pauses_.hold_at(barrier_);
  send_plans();
}

// Without workers nobody comes to a version further on.
void Lead::hold_here(Step here) {
  if (pauses_.hold() == here) {
    return;
  }
  if (book_.current().complete.back().step != here) {
    schedule_.order(here);
  }
  pauses_.hold_at(here);
  send_plans();
}

// By reports that were made by the plans that end there, or while nothing had been given out.
bool Lead::nobody_has_passed(Step step) const {
  return named_.limit == limit() && limit() <= step && shards_.all([&](const LeadLane& lane) {
    return lane.report.plan == LeadNumber{config_.life, named_.number} && !course_.has_passed(lane.report, step);
  });
}

// Once that is durable the job goes on with the next timeline alone.
void Lead::let_depart() {
  if (!holds_for_departure() || book_.current().held) {
    return;
  }
  const bool waits = phase_ == Phase::waiting && holds_where_it_is();
  const bool works = phase_ == Phase::training || phase_ == Phase::evaluating;
  if (waits || (works && has_held() && nobody_has_passed(*pauses_.hold()))) {
    book_.edit().held = true;
  }
}

// The lead's own server goes last: the others hear from it that they may.
bool Lead::may_depart(LaneId id, const LeadLane& lane) const {
  return lane.report.departing && book_.durable().held && (id.shard != 0 || shards_.others_have_departed(now_));
}

}  // namespace ballast
