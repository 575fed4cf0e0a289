// The lead's part in pauses and stops: what the user wants, and what becomes of it.
#include <algorithm>
#include <utility>

#include "protocol/lead/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

// The last word counts. A pause is a fact of the ledger, so that it outlives this lead; a stop is asked for again until
// it is done.
void Lead::on(const FromClient& event) {
  if (is_over()) {
    return;
  }
  const bool is_stop = event.command == Control::Command::stop;
  if (is_stop) {
    pauses_.want_stop(now_);
  }
  if (phase_ >= Phase::finishing) {
    return;  // there is nothing to hold; but whoever wants it to stop waits no longer than for a stop
  }
  if (!is_stop) {
    pauses_.withdraw_stop();
  }
  want_pause(event.command == Control::Command::pause ? Pause::wanted : Pause::none);
  if (event.command == Control::Command::resume) {
    turn_.stirred = true;
    return;
  }
  stop_if_without_work();
  if (is_over() || pauses_.waits_for_copy()) {
    return;
  }
  if (phase_ >= Phase::training && !pauses_.hold() && !pauses_.waits_for_room()) {
    pauses_.expect_little();
    hold();
  } else {
    hold_if_complete();
  }
}

void Lead::want_pause(Pause pause) {
  const auto now = book_.current().pause;
  if (now != pause && !(now == Pause::held && pause == Pause::wanted)) {
    book_.edit().pause = pause;
  }
}

// Nobody would come to a version further on: what the newest complete snapshot holds is what there is. Whoever goes on
// from there is not to find a pause that the stop has ended.
bool Lead::stops_without_work() const {
  return pauses_.wants_stop() && phase_ < Phase::finishing &&
         (phase_ < Phase::training || sessions_.joined().empty()) && !book_.may_hold_pause();
}

void Lead::stop_if_without_work() {
  if (stops_without_work()) {
    stop_when_copied();
  }
}

// The newest complete snapshot is where the job stands, and nothing from there on has been given out.
bool Lead::holds_where_it_is() const { return pauses_.untouched() || book_.durable().pause == Pause::held; }

void Lead::hold() {
  if (course_.has_cuts()) {
    return hold_from(course_.untouched(shards_));
  }
  if (!pauses_.hold_after(course_.untouched(shards_), config_.steps)) {
    return;
  }
  // Who takes its part of a snapshot that is ordered already may have gone on.
  while (schedule_.ordered().contains(*pauses_.hold())) {
    pauses_.hold_at(*pauses_.hold() + 1);
  }
  if (*pauses_.hold() >= config_.steps) {
    return pauses_.release();
  }
  schedule_.order(*pauses_.hold());
  send_plans();
}

// At a cut: the one that is recorded, if it is kept, or a later one.
void Lead::hold_from(Step step) {
  const auto& ledger = book_.current();
  const bool is_kept = std::ranges::find(ledger.kept, step) != ledger.kept.end() || is_complete(step);
  step += step == *ledger.cut && !is_kept ? 1 : 0;
  if (step >= config_.steps) {
    return pauses_.release();  // the job is as good as finished
  }
  pauses_.hold_at(step);
  send_plans();
}

// Some lane has come further, by an older plan: all follow it, though not beyond the barrier.
void Lead::move_hold() {
  if (!course_.has_cuts() || !pauses_.hold()) {
    return;
  }
  const Step reached = std::min(course_.untouched(shards_), barrier_);
  if (reached > *pauses_.hold()) {
    hold_from(reached);
  }
}

bool Lead::is_complete(Step hold) const {
  const auto& ledger = book_.durable();
  const auto newest = ledger.complete.back();
  return newest == SnapshotId{timeline(), hold} || (newest == ledger.base && newest.step == hold);
}

// An older plan may have let a lane go beyond a snapshot that is complete.
bool Lead::has_held() const {
  return pauses_.hold() && is_complete(*pauses_.hold()) && (!course_.has_cuts() || all_stand_at(*pauses_.hold()));
}

void Lead::hold_if_complete() {
  if (!has_held()) {
    return;
  }
  if (book_.current().pause == Pause::wanted) {
    if (holds_for_departure() && !nobody_has_passed(*pauses_.hold())) {
      return;  // all hold where they are, which may be further on
    }
    want_pause(Pause::held);
    pace_.stop(now_);
  } else if (pauses_.wants_stop() && !book_.may_hold_pause()) {
    stop_when_copied();
  }
}

// Copies are waited for as long as the shards are there.
void Lead::stop_when_copied() {
  pauses_.wait_for_copy(is_confirmed() && awaits_copy());
  if (!pauses_.waits_for_copy()) {
    end(Phase::stopped, {});
  }
}

// A disk that had no room for the snapshot may have some in a moment. Meanwhile the job trains.
void Lead::hold_later() {
  pauses_.hold_later(now_);
  if (phase_ == Phase::training) {
    begin_leg(barrier_);
  }
}

std::string Lead::why_stopped_without() const {
  const auto why = status();
  auto text = std::string(phase_ == Phase::concluding ? "the job's end was not written" : "no snapshot was taken") +
              " in the " + std::to_string(config_.stop_patience / 1'000'000) +
              " s after the stop (cluster.stop_patience)";
  for (const auto* reason : {&why.waits_for, &why.trouble}) {
    text += reason->empty() ? "" : "; " + *reason;
  }
  return text;
}

// A stop ends without a snapshot of its own when none comes: what is durable can be resumed. Without a copy of it as
// well.
void Lead::check_wishes() {
  if (pauses_.is_overdue(now_)) {
    if (pauses_.waits_for_copy()) {
      return end(Phase::stopped, {});
    }
    if (phase_ == Phase::finishing && has_final_snapshot()) {
      return conclude();
    }
    trouble_ = why_stopped_without();
    return end(Phase::stopped, {});
  }
  if (phase_ == Phase::training && pauses_.has_waited(now_) && wants_hold() && !pauses_.hold()) {
    hold();
  }
}

// Not before a lead that starts now would let the job go on as well: it counts on it that nobody is beyond a pause.
void Lead::go_on() {
  if (wants_hold() || !(pauses_.hold() || pauses_.waits_for_room())) {
    return;
  }
  pauses_.release();
  if (phase_ == Phase::training) {
    pace_.start(now_);
    begin_leg(barrier_);
  }
}

}  // namespace ballast
