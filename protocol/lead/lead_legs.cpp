// The lead's phases: training in legs between evaluations, and the end.
#include <algorithm>
#include <utility>

#include "protocol/lead/lead.h"
#include "protocol/lead/validation.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

// ---- progress

void Lead::progress() {
  if (!shards_.all_serve() || !is_confirmed()) {
    return;
  }
  if (phase_ == Phase::confirming) {
    phase_ = Phase::waiting;
  }
  if (pauses_.waits_for_copy() && !has_held() && !stops_without_work()) {
    pauses_.wait_for_copy(false);  // somebody has come to work: the newest snapshot will be a newer one
    if (!pauses_.hold()) {
      hold();
    }
  }
  if (pauses_.waits_for_copy()) {
    return stop_when_copied();
  }
  go_on();
  if (sessions_.tell_placement(book_.current().placement)) {
    send_welcomes();  // shards live elsewhere now
  }
  if (phase_ == Phase::waiting && book_.current().pause == Pause::wanted && holds_where_it_is()) {
    want_pause(Pause::held);  // nobody is needed to come to where it is
  }
  let_depart();
  // A job that has begun goes on with whoever is there.
  if (phase_ == Phase::waiting && !book_.current().held &&
      sessions_.joined().size() >= (began() ? 1 : config_.start_workers)) {
    begin_training();
  }
  if (phase_ == Phase::training) {
    observe_shards();
  }
  // By where the shards are now: the step that is open keeps its ranges.
  if ((phase_ == Phase::training || phase_ == Phase::evaluating) && sessions_.take_changes(now_)) {
    course_.members_changed(sessions_.joined(), limit());
  }
  hold_for_departure();
  if (phase_ == Phase::training) {
    move_hold();
    come_to_cut();
    if (pauses_.hold()) {
      hold_if_complete();
    }
    const bool holds_here = pauses_.hold() && *pauses_.hold() <= barrier_;
    if (!holds_here && phase_ == Phase::training && has_come_to_barrier()) {
      at_barrier();
    }
  }
  let_depart();
  if (phase_ == Phase::finishing) {
    conclude_if_complete();
  }
}

void Lead::observe_shards() {
  const Step before = course_.open_step();
  course_.observe(shards_, shards_.take_news(), now_);
  if (goes_step_by_step() && course_.open_step() != before) {
    send_plans();
  }
  if (const auto missed = schedule_.decide(course_.open_step()); missed > 0) {
    book_.remember().snapshots_missed += missed;
  }
}

// ---- legs

// Where all stop for now: for an evaluation, the end, a pause or a stop.
Step Lead::stand() const { return std::min(barrier_, pauses_.hold().value_or(barrier_)); }

// A cut that is being recorded ends all until it is durable, whatever is over meanwhile.
Step Lead::limit() const {
  const auto& decided = book_.current().cut;
  return decided && facts().cut < decided ? *decided : stand();
}

bool Lead::has_come_to_barrier() const {
  const bool is_recorded = !course_.has_cuts() || facts().cut >= barrier_;
  return is_recorded && course_.open_step() >= barrier_ && log_.next() >= barrier_;
}

// A ledger of an older program names no cut. By that program's rules nobody went beyond a regular one before all had
// come to it: it is the newest to which all have, unless somebody is beyond the next one and others have lost some of
// it. That holds for the job file by which it went, in which snapshots may have been due at other steps: then the cut
// is only one that nobody lacks anything of.
bool Lead::find_cut() {
  if (book_.current().cut) {
    return true;
  }
  course_.observe(shards_, shards_.take_news(), now_);
  Step cut = book_.current().base.step;
  Step next = course_.next_barrier(cut, evaluations_);
  for (; next <= course_.open_step() && next < config_.steps; next = course_.next_barrier(cut, evaluations_)) {
    cut = next;
  }
  if (course_.is_beyond(shards_, next)) {
    begin_timeline(RollbackCause::below_cut);
    return false;
  }
  book_.edit().cut = cut;
  return true;
}

void Lead::begin_training() {
  if (!find_cut()) {
    return;
  }
  pace_.start(now_);
  phase_ = Phase::training;
  course_.begin(sessions_.joined(), book_.current().base.step);
  sessions_.forget_changes();
  observe_shards();
  // The version where all stand may be one to be evaluated, and may not have been.
  const Step open = course_.has_cuts() ? *book_.current().cut : course_.open_step();
  const Step barrier = next_to_come(course_.next_barrier(open - std::min<Step>(open, 1), evaluations_));
  if (is_passed(barrier)) {
    return begin_timeline(RollbackCause::below_cut);  // nobody could evaluate it again: the ledger is older than a lane
  }
  if (wants_hold() && holds_where_it_is()) {
    pauses_.hold_at(book_.current().complete.back().step);
  }
  pauses_.begin();
  begin_leg(barrier);
  if (wants_hold() && !pauses_.hold() && phase_ == Phase::training) {  // and the job is not to be taken back
    hold();
  }
}

// Where cuts are recorded, not yet, and some lane has gone beyond: all can come there no more.
bool Lead::is_passed(Step barrier) const {
  return course_.has_cuts() && barrier > *book_.current().cut && barrier < config_.steps &&
         course_.is_beyond(shards_, barrier);
}

// The first from there on to which all can come. A job may be resumed with snapshots due at other steps than those
// between which its lanes were ended; its evaluations stay where they were.
Step Lead::next_to_come(Step barrier) const {
  while (is_passed(barrier) && !evaluations_.due(barrier)) {
    barrier = course_.next_barrier(barrier, evaluations_);
  }
  return barrier;
}

void Lead::begin_leg(Step barrier) {
  phase_ = Phase::training;
  barrier_ = next_to_come(barrier);
  course_.reopen(now_);
  send_plans();
}

void Lead::at_barrier() {
  if (const auto split = evaluations_.due(barrier_)) {
    return begin_evaluation(*split);
  }
  // Beyond the barrier nobody could evaluate its version again.
  if (!book_.evaluations_written()) {
    return;
  }
  if (evaluations_.ends_at(barrier_)) {
    return finish();
  }
  begin_leg(course_.next_barrier(barrier_, evaluations_));
}

void Lead::begin_evaluation(Split split) {
  phase_ = Phase::evaluating;
  evaluations_.begin(split, barrier_);
}

void Lead::end_evaluation() {
  book_.add(evaluations_.end());
  update_best();
  const auto* best = best_validation(evaluations_.records(), config_.best_by);
  const bool is_best = config_.keep_best && best != nullptr && best->step == barrier_;
  if ((is_best || evaluations_.ends_at(barrier_)) && book_.current().complete.back().step != barrier_) {
    keep(barrier_);
  }
  phase_ = Phase::training;
  if (pauses_.hold() != barrier_) {
    at_barrier();
  }
}

// ---- the end

void Lead::finish() {
  phase_ = Phase::finishing;
  pace_.stop(now_);
  if (!has_final_snapshot()) {
    keep(barrier_);
  }
  send_plans();
  conclude_if_complete();
}

bool Lead::has_final_snapshot() const { return book_.current().complete.back() == SnapshotId{timeline(), barrier_}; }

void Lead::conclude_if_complete() {
  if (phase_ == Phase::finishing && has_final_snapshot() && !awaits_copy()) {
    conclude();
  }
}

void Lead::conclude() {
  phase_ = Phase::concluding;
  pauses_.restart_patience(now_);  // the writing of the end has a stop's patience of its own
  auto& ledger = book_.edit();
  ledger.finished = ledger.complete.back();
  ledger.pause = Pause::none;
}

Finish Lead::finish_message() const {
  const auto ending = phase_ == Phase::finished  ? Ending::finished
                      : phase_ == Phase::stopped ? Ending::stopped
                                                 : Ending::failed;
  const auto& finished = book_.durable().finished;
  if (ending == Ending::finished) {
    return {finished->timeline, finished->step, ending, {}};
  }
  return {timeline(), std::max(course_.open_step(), book_.durable().base.step), ending, end_.failure};
}

void Lead::end(Phase phase, std::string failure) {
  phase_ = phase;
  pace_.stop(now_);
  end_.failure = std::move(failure);
  copies_.end(book_.durable(), copy_parts());
  end_.since = now_;
  for (const auto& [id, lane] : shards_.lanes()) {
    emit(SendToLane{id, lane.incarnation, finish_message()});
  }
  for (const auto& [id, session] : sessions_.all()) {
    if (session.live) {
      emit(SendToWorker{id, finish_message()});
    }
  }
}

void Lead::leave_when_told() {
  const bool all_left = shards_.all([](const LeadLane& lane) { return lane.left; }) && shards_.turned_away().empty() &&
                        !sessions_.any_live();
  const auto over_for = now_ - end_.since;
  const auto stay = phase_ == Phase::failed ? 0 : config_.stay;  // a failed job is to be started again
  const bool is_long_enough = over_for >= stay && (all_left || over_for >= config_.linger);
  if (is_long_enough && !std::exchange(end_.told, true)) {
    emit(Stop{end_.failure});
  }
}

}  // namespace ballast
