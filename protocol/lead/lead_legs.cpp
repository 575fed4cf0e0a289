// The lead's phases: training in legs between evaluations, and the end.
#include <algorithm>
#include <utility>

#include "protocol/lead/lead.h"
#include "protocol/lead/validation.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

// ---- progress

void Lead::progress() {
  const bool all_serve =
      shards_.all([&](const LeadLane& lane) { return lane.report.serving && lane.report.timeline == timeline(); });
  if (!all_serve || !is_confirmed()) {
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
  if (sessions_.tell_placement(book_.current().placement)) {
    send_welcomes();  // shards live elsewhere now
  }
  if (phase_ == Phase::waiting && book_.current().pause == Pause::wanted && holds_where_it_is()) {
    want_pause(Pause::held);  // nobody is needed to come to where it is
  }
  // A job that has begun goes on with whoever is there.
  if (phase_ == Phase::waiting && sessions_.joined().size() >= (began() ? 1 : config_.start_workers)) {
    begin_training();
  }
  if (phase_ == Phase::training) {
    observe_shards();
  }
  // By where the shards are now: the step that is open keeps its ranges.
  if ((phase_ == Phase::training || phase_ == Phase::evaluating) && sessions_.take_changes(now_)) {
    course_.members_changed(sessions_.joined(), limit());
  }
  if (phase_ == Phase::training) {
    if (pauses_.hold()) {
      hold_if_complete();
    }
    const bool holds_here = pauses_.hold() && *pauses_.hold() <= leg_.barrier;
    if (!holds_here && phase_ == Phase::training && course_.open_step() >= leg_.barrier &&
        log_.next() >= leg_.barrier) {
      at_barrier();
    }
  }
  if (phase_ == Phase::finishing) {
    conclude_if_complete();
  }
}

void Lead::observe_shards() {
  course_.observe(shards_, now_);
  if (const auto missed = schedule_.decide(course_.open_step()); missed > 0) {
    book_.edit().snapshots_missed += missed;
  }
}

// ---- legs

// Where all stop for now: for an evaluation, the end, a pause or a stop.
Step Lead::stand() const { return std::min(leg_.barrier, pauses_.hold().value_or(leg_.barrier)); }

Step Lead::limit() const { return course_.limit(stand(), schedule_.ordered()); }

void Lead::begin_training() {
  pace_.start(now_);
  phase_ = Phase::training;
  course_.begin(sessions_.joined(), book_.current().base.step);
  sessions_.forget_changes();
  observe_shards();
  // The version where the timeline begins may be one to be evaluated, and may not have been.
  const Step open = course_.open_step();
  const Step barrier = course_.next_barrier(open - std::min<Step>(open, 1), evaluations_);
  if (wants_hold() && holds_where_it_is()) {
    pauses_.hold_at(book_.current().complete.back().step);
  }
  pauses_.begin();
  begin_leg(barrier);
  if (wants_hold() && !pauses_.hold() && phase_ == Phase::training) {  // and the job is not to be taken back
    hold();
  }
}

void Lead::begin_leg(Step barrier) {
  if (course_.is_undone(shards_, barrier)) {
    return begin_timeline(RollbackCause::below_cut);
  }
  phase_ = Phase::training;
  leg_.barrier = barrier;
  course_.reopen(now_);
  send_plans();
}

void Lead::at_barrier() {
  if (const auto split = evaluations_.due(leg_.barrier)) {
    return begin_evaluation(*split);
  }
  // Beyond the barrier nobody could evaluate its version again.
  if (!book_.settled()) {
    return;
  }
  if (evaluations_.ends_at(leg_.barrier)) {
    return finish();
  }
  if (const auto* best = best_validation(evaluations_.records());
      config_.keep_best && best != nullptr && best->step == leg_.barrier &&
      book_.current().complete.back().step != leg_.barrier) {
    schedule_.order(leg_.barrier);
  }
  if (course_.orders_at(leg_.barrier) && book_.current().complete.back() < SnapshotId{timeline(), leg_.barrier}) {
    if (schedule_.ordered().empty()) {
      schedule_.order(leg_.barrier);
    } else if (!schedule_.ordered().contains(leg_.barrier)) {
      ++book_.edit().snapshots_missed;
    }
  }
  leg_.passed = leg_.barrier;
  begin_leg(course_.next_barrier(leg_.barrier, evaluations_));
}

void Lead::begin_evaluation(Split split) {
  phase_ = Phase::evaluating;
  evaluations_.begin(split, leg_.barrier);
}

void Lead::end_evaluation() {
  book_.add(evaluations_.end());
  update_best();
  phase_ = Phase::training;
  at_barrier();
}

// ---- the end

void Lead::finish() {
  phase_ = Phase::finishing;
  pace_.stop(now_);
  schedule_.order(leg_.barrier);
  send_plans();
  conclude_if_complete();
}

bool Lead::has_final_snapshot() const {
  return book_.current().complete.back() == SnapshotId{timeline(), leg_.barrier};
}

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
  if ((all_left || now_ - end_.since >= config_.linger) && !std::exchange(end_.told, true)) {
    emit(Stop{end_.failure});
  }
}

}  // namespace ballast
