// The lane's side towards the lead: timelines, plans, snapshots, reports, and the end.
#include <algorithm>
#include <tuple>
#include <utility>

#include "common/protocol/lane.h"

namespace ballast {

using namespace lane;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

constexpr Micros kLeadAway = 2'000'000;

}  // namespace

void Lane::on(const FromLead& event) {
  lead_known_ = true;
  lead_heard_ = true;
  if (const auto* confirm = std::get_if<Confirm>(event.message)) {
    on_confirm(*confirm);
  } else if (const auto* plan = std::get_if<Plan>(event.message)) {
    on_plan(*plan);
  } else if (const auto* finish = std::get_if<Finish>(event.message)) {
    on_finish(*finish);
  } else if (const auto* refused = std::get_if<Refused>(event.message)) {
    on_refused(*refused);
  }
}

void Lane::on_refused(const Refused& refused) {
  if (refused.code == RefusalCode::unknown_session) {
    return say_hello();  // to a lead that has lost its memory
  }
  const bool asks_again = refused.code == RefusalCode::not_serving || refused.code == RefusalCode::not_taken;
  if (!asks_again) {
    stop("the lead refused this shard: " + refused.text);
  }
}

// ---- timelines

void Lane::on_confirm(const Confirm& confirm) {
  // Addressed to one incarnation: a word meant for an earlier life of this shard confirms nothing.
  if (confirm.incarnation != config_.incarnation) {
    return;
  }
  if (confirm.resumes && confirm.timeline == timeline_ && beginning_ == timeline_ && !serving_ && !lives_.empty()) {
    if (!std::exchange(resuming_, true)) {
      base_ = confirm.base;
      emit(Resume{confirm.timeline, confirm.base});
    }
    return;
  }
  if (confirm.timeline <= std::max(timeline_, beginning_)) {
    return;
  }
  beginning_ = confirm.timeline;
  base_ = confirm.base;
  copies_ = {};  // the lead's ledger may be an earlier state of the one that had named some
  serving_ = false;
  resuming_ = false;
  lives_.clear();
  forget_rounds();
  emit(Begin{confirm.timeline, confirm.base});
}

void Lane::forget_rounds() {
  for (auto& chunk : chunks_) {
    for (const auto payload : chunk.round.reset()) {
      emit(Drop{payload});
    }
    chunk.fault = kNoSlot;
    chunk.measure.reset();
    chunk.waits = false;
  }
  for (const auto& update : std::exchange(pending_, {})) {
    emit(Drop{update.payload});
  }
  first_ticket_ = next_ticket_;
  marks_.clear();
  sessions_.forget_replies();
  held_payloads_ = 0;
  next_decided_ = chunks_.size();
  waiting_chunks_ = 0;
  statistics_.clear();
  plan_.clear();
  snapshots_.begin(beginning_);
}

void Lane::on(const Begun& event) {
  if (event.timeline != beginning_ || serving_) {
    return;
  }
  timeline_ = event.timeline;
  serving_ = true;
  for (auto& chunk : chunks_) {
    chunk.version = updates(base_.step);
  }
  open_step_ = chunks_.empty() ? config_.steps : base_.step;
  behind_ = chunks_.size();
  plan_.begin(updates(base_.step));
  statistics_.begin(base_.step);
  if (is_ledgered()) {
    lives_ = {{config_.incarnation, 0}};
    begin_items(base_.step);
  }
  report();
}

// ---- plans

void Lane::on_plan(const Plan& plan) {
  if (plan.timeline != timeline_ || !serving_) {
    return;
  }
  statistics_.confirmed(plan.statistics_through);
  follow_copies(plan.copies);  // first: a snapshot that is given up is kept no longer
  if (snapshots_.keep(plan.keep)) {
    emit(Retain{snapshots_.kept()});
  }
  // Before any update: the versions to be kept may be the newest ones.
  take_snapshot_orders(plan);
  const bool waits_for_it = is_ledgered() && plan_.end() == items_.floor();
  plan_.extend(plan.first, plan.factors, updates(open_step_));
  if (waits_for_it && plan_.end() > items_.floor()) {
    return report();  // nothing is granted before the lead knows that it will be taken
  }
  next_decided_ = 0;
  apply_decided();
}

// ---- snapshots

void Lane::take_snapshot_orders(const Plan& plan) {
  for (const auto step : plan.snapshots) {
    const bool too_late =
        std::any_of(chunks_.begin(), chunks_.end(), [&](const ChunkState& chunk) { return is_past(chunk, step); });
    if (too_late || !snapshots_.order(step, chunks_.size())) {
      continue;
    }
    for (const auto& chunk : chunks_) {
      if (at_step(chunk) == step) {  // others may be at a version of another order, which has taken them
        take_snapshot(chunk);
      }
    }
    if (chunks_.empty()) {
      emit(SealSnapshot{{timeline_, step}});
    }
  }
}

// Plans come late, and what they say only ever becomes newer within a timeline.
void Lane::follow_copies(const CopyState& copies) {
  const auto order = [](const CopyState& of) { return std::tie(of.turn, of.complete, of.named); };
  if (config_.id.lane == 0 && order(copies) > order(copies_)) {
    copies_ = copies;
    emit(Copy{copies_});
  }
}

void Lane::on(const Copying& event) {
  const bool is_news = (event.progress.done || event.progress.taken) && event.progress != copy_;
  copy_ = event.progress;
  changed_ = true;
  if (is_news && serving_) {
    report();
  }
}

void Lane::take_snapshot(const ChunkState& chunk) {
  const auto step = at_step(chunk);
  if (!step || !snapshots_.is_due(*step)) {
    return;
  }
  if (!chunk.spec.statistics) {  // no part of the model
    emit(TakeSnapshot{{timeline_, *step}, chunk.spec.id});
  }
  if (snapshots_.take(*step)) {
    emit(SealSnapshot{{timeline_, *step}});
  }
}

void Lane::on(const SnapshotDurable& event) {
  if (snapshots_.durable(event.id)) {
    report();
  }
}

void Lane::on(const SnapshotFailed& event) {
  if (snapshots_.failed(event.id, event.text)) {
    report();
  }
}

// ---- endings

void Lane::on(const StorageFailed& event) {
  failure_ = event.text;
  if (finishing_) {
    leaving_ = true;  // the lead waits for nothing more from here
  }
  report();
  if (finishing_) {
    stop(failure_);
  }
}

void Lane::on_finish(const Finish& finish) {
  if (stopped_) {
    return;
  }
  if (finish.ending == Ending::finished) {
    if (!std::exchange(finishing_, true)) {
      emit(RecordFinish{{finish.timeline, finish.step}});
    }
    return;
  }
  leaving_ = true;
  report();
  stop(finish.failure);
}

void Lane::on(const FinishRecorded& /*event*/) {
  if (finishing_ && !stopped_) {
    leaving_ = true;
    report();
    stop({});
  }
}

void Lane::on(const Trouble& event) {
  side_trouble_ = event.text;
  changed_ = true;
}

void Lane::stop(std::string failure) {
  stopped_ = true;
  emit(Stop{std::move(failure)});
}

// ---- time and reports

void Lane::on(const StatisticsRead& event) {
  statistics_.add(event.statistics);
  changed_ = true;
  report_if_at_barrier();
}

void Lane::on(const Tick& event) {
  // Time in which this process did not run is not the lead's silence, and what was heard since the last tick was heard
  // just now.
  const bool was_asleep = event.now - now_ > config_.lead_silence / 2;
  now_ = event.now;
  if (std::exchange(lead_heard_, false) || was_asleep) {
    lead_heard_at_ = now_;
  }
  if (stopped_) {
    return;
  }
  // Once it has said that the job is finished, it may be gone: what is left to do needs it no more.
  if (!finishing_ && lead_known_ && now_ - lead_heard_at_ > config_.lead_silence) {
    return stop("the lead (shard 0) has not been heard of for " + std::to_string((now_ - lead_heard_at_) / 1'000'000) +
                " s (cluster.patience)");
  }
  const auto every = changed_ && !lead_is_away() ? config_.report_every : config_.idle_report_every;
  if (reported_at_ == 0 || now_ - reported_at_ >= every) {
    report();
  }
}

// What is sent to a lead that is gone queues up until it is back.
bool Lane::lead_is_away() const {
  return lead_known_ && !lead_heard_ && now_ - lead_heard_at_ > std::min(kLeadAway, config_.lead_silence / 2);
}

void Lane::report_if_at_barrier() {
  // The lead gives out nothing beyond its plan's end before it has heard that all are there.
  if (serving_ && updates(open_step_) == plan_.end() && !statistics_.awaits(open_step_)) {
    report();
  }
}

void Lane::say_hello() {
  reported_at_ = now_;
  emit(SendToLead{ShardHello{config_.id, config_.shards, config_.lanes, config_.incarnation, config_.database,
                             config_.spec_digest, config_.layout_digest, config_.initial_weights, config_.address,
                             timeline_, serving_ && !chunks_.empty() ? open_step_ : 0, snapshots_.stored(kMaxHeld),
                             lives_}});
}

void Lane::report() {
  const bool is_last_word = !failure_.empty() || leaving_;
  changed_ = lead_is_away();
  if (!is_last_word && (!serving_ || changed_)) {
    say_hello();
    // What keeps it from serving, and then that it is over, a hello has no word for.
    if (changed_ || (side_trouble_.empty() && !told_side_trouble_)) {
      return;
    }
  }
  told_side_trouble_ = !side_trouble_.empty();
  reported_at_ = now_;
  auto body = state_report();
  body.sequence = ++report_sequence_;
  emit(SendToLead{std::move(body)});
}

LaneReport Lane::state_report() const {
  LaneReport report;
  report.lane = config_.id;
  report.incarnation = config_.incarnation;
  report.timeline = timeline_;
  report.serving = serving_;
  report.open_step = open_step_;
  report.planned = plan_.end();
  if (is_ledgered()) {
    report.covered = items_.ranges(kMaxCoveredRanges);
    for (const auto& chunk : chunks_) {
      report.reached = std::max(report.reached, chunk.reached);
    }
    report.staleness = counters_.staleness;
    report.marks = marks_;
  } else {
    report.missing = missing().words();
  }
  for (const auto& chunk : chunks_) {
    if (chunk.measure) {  // what the lead does with it is the lead's to know
      report.measures.push_back(*chunk.measure);
    }
  }
  for (Step step = open_step_ - std::min<Step>(open_step_, 1); !is_ledgered() && step <= open_step_; ++step) {
    if (const auto* known = plan_.find(step)) {
      report.decided.push_back({step, *known});
    }
  }
  snapshots_.tell(report);
  report.copy = copy_;
  report.trouble = snapshots_.trouble().empty() ? side_trouble_ : snapshots_.trouble();
  report.statistics = statistics_.oldest(kMaxPlanned);
  for (const auto& [session, slots] : sessions_.contributions()) {
    report.slots_by_session.push_back({session, slots});
  }
  report.duplicates = counters_.duplicates;
  report.superseded = counters_.superseded;
  report.leaving = leaving_;
  report.failure = failure_;
  return report;
}

}  // namespace ballast
