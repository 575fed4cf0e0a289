// The lead's course: training in legs between evaluations, pauses, the end.
#include <algorithm>
#include <utility>

#include "common/protocol/lead.h"
#include "common/protocol/validation.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

constexpr Step kHoldMargin = 2;

}  // namespace

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
  if (stopping_ && !hold_ && !stops_without_work()) {
    stopping_ = false;  // somebody has come to work: the newest snapshot will be a newer one
    hold();
  }
  if (stopping_) {
    return stop_when_copied();
  }
  if (std::exchange(welcomed_, book_.current().placement) != book_.current().placement) {
    send_welcomes();  // shards live elsewhere now
  }
  if (phase_ == Phase::waiting && book_.current().pause == Pause::wanted && holds_where_it_is()) {
    want_pause(Pause::held);  // nobody is needed to come to where it is
  }
  // A job that has begun goes on with whoever is there.
  if (phase_ == Phase::waiting && sessions_.joined().size() >= (began_ ? 1 : config_.start_workers)) {
    begin_training();
  }
  if (phase_ == Phase::training) {
    observe_shards();
    if (hold_) {
      hold_if_complete();
    }
    const bool holds_here = hold_ && *hold_ <= barrier_;
    if (!holds_here && phase_ == Phase::training && open_step() >= barrier_ && log_.next() >= barrier_) {
      at_barrier();
    } else {
      hand_out();
    }
  }
  if (phase_ == Phase::finishing) {
    conclude_if_complete();
  }
}

void Lead::observe_shards() {
  if (is_ledgered()) {
    return observe_items();
  }
  Step open = config_.steps;
  for (const auto& [id, lane] : shards_.lanes()) {
    open = std::min(open, lane.report.open_step);
  }
  SlotSet missing(config_.slots);
  for (const auto& [id, lane] : shards_.lanes()) {
    if (lane.report.open_step == open && open < config_.steps) {
      missing.insert(SlotSet::from_words(config_.slots, lane.report.missing));
    }
  }
  if (open > work_.open()) {
    if (work_.observed()) {
      learn_step_time(open - work_.open());
    }
    expect_step();
  }
  work_.observe(open, missing, now_);
  if (const auto missed = schedule_.decide(open); missed > 0) {
    book_.edit().snapshots_missed += missed;
  }
  if (!half_time_ && work_.half_brought() && work_.handed_out() == handed_out_before_) {
    half_time_ = now_ - open_since_;
  }
}

void Lead::expect_step() {
  open_since_ = now_;
  half_time_.reset();
  handed_out_before_ = work_.handed_out();
}

void Lead::learn_step_time(Step steps) {
  // A step that waited for late slots must not teach when slots are late: each deadline would contain the one before,
  // and one straggler would make every wait longer. What half of the sessions need says it.
  if (half_time_) {
    step_time_.observe(*half_time_);
  } else if (work_.handed_out() == handed_out_before_) {
    step_time_.observe((now_ - open_since_) / steps);
  }
}

// ---- legs

Step Lead::next_barrier(Step after) const {
  const Step barrier = evaluations_.next_after(after);
  if (!is_ledgered() || config_.snapshot_every == 0) {
    return barrier;
  }
  // What is to be kept must be whole: nobody works on.
  return std::min(barrier, (after / config_.snapshot_every + 1) * config_.snapshot_every);
}

// Where all stop for now: for an evaluation, the end, a pause or a stop.
Step Lead::stand() const { return hold_ ? std::min(barrier_, *hold_) : barrier_; }

Step Lead::limit() const {
  const Step end = stand();
  if (!is_ledgered()) {
    return end;
  }
  // A snapshot is a cut only if nobody works beyond its step before all have come to it.
  const auto next = schedule_.ordered().upper_bound(open_step());
  return next == schedule_.ordered().end() ? end : std::min(end, *next);
}

void Lead::begin_training() {
  began_ = true;
  training_.start(now_);
  phase_ = Phase::training;
  if (!is_ledgered()) {
    work_.divide(sessions_.joined(), book_.current().base.step);
  }
  observe_shards();
  // The version where the timeline begins may be one to be evaluated, and may not have been.
  const Step open = open_step();
  const Step barrier = next_barrier(open - std::min<Step>(open, 1));
  if (wants_hold() && holds_where_it_is()) {
    hold_ = book_.current().complete.back().step;
  }
  untouched_ = false;
  begin_leg(barrier);
  if (wants_hold() && !hold_ && phase_ == Phase::training) {  // and the job is not to be taken back
    hold();
  }
}

void Lead::begin_leg(Step barrier) {
  if (is_journaled() && is_passed(barrier)) {
    return begin_timeline();
  }
  phase_ = Phase::training;
  barrier_ = barrier;
  expect_step();
  work_.reopen(now_);
  send_plans();
  send_assignments();
}

void Lead::at_barrier() {
  if (const auto split = evaluations_.due(barrier_)) {
    return begin_evaluation(*split);
  }
  // Beyond the barrier nobody could evaluate its version again.
  if (!book_.settled()) {
    return;
  }
  if (evaluations_.ends_at(barrier_)) {
    return finish();
  }
  if (const auto* best = best_validation(evaluations_.records()); config_.keep_best && best != nullptr &&
                                                                  best->step == barrier_ &&
                                                                  book_.current().complete.back().step != barrier_) {
    schedule_.order(barrier_);
  }
  if (is_ledgered() && config_.snapshot_every > 0 && barrier_ % config_.snapshot_every == 0 &&
      book_.current().complete.back() < SnapshotId{timeline(), barrier_}) {
    if (schedule_.ordered().empty()) {
      schedule_.order(barrier_);
    } else if (!schedule_.ordered().contains(barrier_)) {
      ++book_.edit().snapshots_missed;
    }
  }
  passed_ = barrier_;
  begin_leg(next_barrier(barrier_));
}

void Lead::begin_evaluation(Split split) {
  phase_ = Phase::evaluating;
  evaluations_.begin(split, barrier_);
  hand_out();
}

void Lead::end_evaluation() {
  book_.add(evaluations_.end());
  update_best();
  phase_ = Phase::training;
  at_barrier();
}

// ---- pauses and stops

// The last word counts. A pause is a fact of the ledger, so that it outlives this lead; a stop is asked for again until
// it is done.
void Lead::on(const FromClient& event) {
  if (is_over()) {
    return;
  }
  const bool is_stop = event.command == Control::Command::stop;
  if (is_stop && !stop_wanted_) {
    stop_wanted_at_ = now_;
  }
  if (phase_ >= Phase::finishing) {
    // It finishes, and there is nothing to hold; but whoever wants it to stop waits no longer than for a stop.
    stop_wanted_ = stop_wanted_ || is_stop;
    return;
  }
  stop_wanted_ = is_stop;
  stopping_ = stopping_ && is_stop;
  want_pause(event.command == Control::Command::pause ? Pause::wanted : Pause::none);
  if (event.command == Control::Command::resume) {
    return resume();
  }
  stop_if_without_work();
  if (is_over() || stopping_) {
    return;
  }
  if (phase_ >= Phase::training && !hold_ && !hold_again_at_) {
    hold_margin_ = kHoldMargin;
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
  return stop_wanted_ && phase_ < Phase::finishing && (phase_ < Phase::training || sessions_.joined().empty()) &&
         !book_.may_hold_pause();
}

void Lead::stop_if_without_work() {
  if (stops_without_work()) {
    stop_when_copied();
  }
}

// The newest complete snapshot is where the job stands, and nothing from there on has been given out.
bool Lead::holds_where_it_is() const { return untouched_ || book_.current().pause == Pause::held; }

// At a version that nobody has come to yet, so that every shard can take its part of the snapshot.
void Lead::hold() {
  Step furthest = 0;
  for (const auto& [id, lane] : shards_.lanes()) {
    furthest = std::max(furthest, lane.report.open_step < config_.steps ? lane.report.open_step : open_step());
  }
  if (is_ledgered()) {
    furthest = std::max(furthest, (reached_items() + config_.slots - 1) / config_.slots);
  }
  hold_margin_ = std::max(hold_margin_, kHoldMargin);
  hold_ = furthest + hold_margin_;
  hold_margin_ *= 2;
  if (*hold_ >= config_.steps) {
    hold_.reset();  // it is as good as finished
    return;
  }
  schedule_.order(*hold_);
  send_plans();
  send_assignments();
}

bool Lead::is_complete(Step hold) const {
  const auto& ledger = book_.durable();
  const auto newest = ledger.complete.back();
  return newest >= SnapshotId{timeline(), hold} || (newest == ledger.base && newest.step == hold);
}

void Lead::hold_if_complete() {
  if (!hold_ || !is_complete(*hold_)) {
    return;
  }
  if (!stop_wanted_) {
    want_pause(Pause::held);
    training_.stop(now_);
  } else if (!book_.may_hold_pause()) {
    stop_when_copied();
  }
}

// Copies are waited for as long as the shards are there.
void Lead::stop_when_copied() {
  stopping_ = is_confirmed() && awaits_copy();
  if (!stopping_) {
    end(Phase::stopped, {});
  }
}

// A disk that had no room for the snapshot may have some in a moment. Meanwhile the job trains.
void Lead::hold_later() {
  hold_.reset();
  hold_margin_ = kHoldMargin;
  hold_again_at_ = now_ + config_.hold_again;
  if (phase_ == Phase::training) {
    begin_leg(barrier_);
  }
}

bool Lead::is_stop_overdue() const { return stop_wanted_ && now_ - stop_wanted_at_ > config_.stop_patience; }

// A stop ends without a snapshot of its own when none comes: what is durable can be resumed. Without a copy of it as
// well.
void Lead::check_wishes() {
  if (is_stop_overdue() && stopping_) {
    return end(Phase::stopped, {});
  }
  if (is_stop_overdue() && phase_ == Phase::finishing && has_final_snapshot()) {
    return conclude();
  }
  if (is_stop_overdue()) {
    const auto why = status();
    trouble_ = std::string(phase_ == Phase::concluding ? "the job's end was not written" : "no snapshot was taken") +
               " in the " + std::to_string(config_.stop_patience / 1'000'000) +
               " s after the stop (cluster.stop_patience)";
    for (const auto* reason : {&why.waits_for, &why.trouble}) {
      trouble_ += reason->empty() ? "" : "; " + *reason;
    }
    return end(Phase::stopped, {});
  }
  if (hold_again_at_ && now_ >= *hold_again_at_ && phase_ == Phase::training) {
    hold_again_at_.reset();
    if (wants_hold() && !hold_) {
      hold();
    }
  }
}

void Lead::resume() {
  hold_.reset();
  hold_again_at_.reset();
  hold_margin_ = kHoldMargin;
  if (phase_ == Phase::training) {
    training_.start(now_);
    begin_leg(barrier_);
  }
}

// ---- the end

void Lead::finish() {
  phase_ = Phase::finishing;
  training_.stop(now_);
  schedule_.order(barrier_);
  send_plans();
  send_assignments();
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
  stop_wanted_at_ = now_;  // the writing of the end has a stop's patience of its own
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
  return {timeline(), std::max(open_step(), book_.durable().base.step), ending, failure_};
}

void Lead::end(Phase phase, std::string failure) {
  phase_ = phase;
  training_.stop(now_);
  failure_ = std::move(failure);
  copies_.end(book_.durable(), copy_parts());
  over_since_ = now_;
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
  if ((all_left || now_ - over_since_ >= config_.linger) && !std::exchange(stopped_, true)) {
    emit(Stop{failure_});
  }
}

}  // namespace ballast
