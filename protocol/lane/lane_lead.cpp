// The lane's side towards the lead: timelines, plans, snapshots, reports, and the end.
#include <algorithm>
#include <tuple>
#include <utility>

#include "protocol/lane/lane.h"

namespace ballast {

using namespace lane;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

void Lane::on(const FromLead& event) {
  lead_.heard();
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
  const bool has_begun_nothing = era_.beginning == era_.timeline && !era_.serving;
  if (confirm.resumes && confirm.timeline == era_.timeline && has_begun_nothing && !applier_.lives().empty()) {
    return go_on(confirm);
  }
  if (confirm.timeline <= std::max(era_.timeline, era_.beginning)) {
    return;
  }
  era_ = {era_.timeline, confirm.timeline, confirm.base};
  if (departure_.wanted) {
    return leave(true, {});  // what it has is of a timeline that is over, and it has nothing of the next one
  }
  copies_ = {};  // the lead's ledger may be an earlier state of the one that had named some
  forget();
  emit(Begin{confirm.timeline, confirm.base});
}

// With the journal. What is replayed is said together with the cut that it is to be compared with.
void Lane::go_on(const Confirm& confirm) {
  const bool is_news = confirm.cut != std::exchange(era_.cut, confirm.cut);
  if (era_.replayed) {
    if (is_news) {
      era_.replayed->cut = era_.cut;
      say_hello();
    } else if (confirm.serves) {
      era_.replayed.reset();
      era_.serving = true;
      report();
    }
  } else if (!std::exchange(era_.resuming, true)) {
    era_.base = confirm.base;
    emit(Resume{confirm.timeline, confirm.base});
  }
}

void Lane::forget() {
  for (const auto payload : applier_.forget()) {
    emit(Drop{payload});
  }
  sessions_.forget_replies();
  calls_.forget_offers();
  statistics_.clear();
  plan_.clear();
  snapshots_.begin(era_.beginning);
}

void Lane::on(const Begun& event) {
  if (event.timeline != era_.beginning || era_.serving) {
    return;
  }
  era_.timeline = event.timeline;
  era_.serving = true;
  snapshots_.store(era_.base);
  applier_.begin(era_.base.step, config_.incarnation);
  plan_.begin(applier_.version_at(era_.base.step));
  statistics_.begin(era_.base.step);
  report();
}

// Another base is the lead's to choose.
void Lane::on(const BaseMissing& event) {
  if (event.timeline != era_.beginning || era_.serving || ending_.stopped) {
    return;
  }
  auto& lost = reach_.lost;
  if (std::ranges::find(lost, event.base) == lost.end()) {
    lost.insert(std::ranges::lower_bound(lost, event.base), event.base);
  }
  if (lost.size() > kMaxCopied) {
    lost.erase(lost.begin());
  }
  say_hello();
}

void Lane::on(const CopiesFound& event) {
  if (event.trouble.empty()) {  // else what was there before is still likely to be
    const auto more = event.sets.size() - std::min<std::size_t>(event.sets.size(), kMaxCopied);
    reach_.found.assign(event.sets.begin() + static_cast<std::ptrdiff_t>(more), event.sets.end());
  }
  reach_.trouble = event.trouble;
  if (!era_.serving && told_.at > 0 && !ending_.stopped) {
    say_hello();
  }
}

void Lane::on(const Resumed& event) {
  if (!era_.resuming || event.timeline != era_.timeline) {
    return;
  }
  era_.resuming = false;
  const auto resumed = applier_.resume(event);
  plan_.begin(resumed.planned_from);
  statistics_.begin(event.from);
  for (const auto& part : resumed.statistics) {
    statistics_.add(part);
  }
  era_.replayed = Replayed{applier_.covered_items(), era_.cut};
  report();
}

// ---- plans

void Lane::on_plan(const Plan& plan) {
  if (plan.timeline != era_.timeline || plan.incarnation != config_.incarnation || !era_.serving ||
      plan.number < plan_.number()) {
    return;
  }
  sessions_.bar(plan.barred);
  for (const auto session : plan.barred) {
    emit_all(calls_.forget(session));
  }
  statistics_.confirmed(plan.statistics_through);
  follow_copies(plan.copies);  // first: a snapshot that is given up is kept no longer
  if (snapshots_.keep(plan.keep)) {
    emit(Retain{era_.timeline, snapshots_.kept()});
  }
  // Before any update: the versions to be kept may be the newest ones.
  take_snapshot_orders(plan);
  const auto known = plan_.end();
  const bool is_news = plan.number != plan_.number();
  plan_.follow(plan.number, plan.until);
  plan_.extend(plan.first, plan.factors, applier_.version_at(applier_.open_step()));
  plan_.foresee(plan.first + plan.factors.size(), plan.prospect);
  if (is_news || (applier_.stands_at(known) && plan_.end() > known)) {
    report();  // the lead waits for it
  }
  carry_out(applier_.planned(plan_));
  if (plan.may_depart && departure_.wanted && !ending_.stopped) {
    leave(false, {});
  }
}

// ---- snapshots

void Lane::take_snapshot_orders(const Plan& plan) {
  for (const auto step : plan.snapshots) {
    if (applier_.is_past(step) || !snapshots_.order(step, config_.chunks.size())) {
      continue;
    }
    for (const auto& chunk : applier_.chunks_at(step)) {
      take_into_snapshot(step, chunk.id, chunk.statistics);
    }
    if (config_.chunks.empty()) {
      emit(SealSnapshot{{era_.timeline, step}});
    }
  }
}

void Lane::take_into_snapshot(Step step, ChunkId chunk, bool of_statistics) {
  if (!snapshots_.is_due(step)) {
    return;
  }
  if (!of_statistics) {  // they are no part of the model
    emit(TakeSnapshot{{era_.timeline, step}, chunk});
  }
  if (snapshots_.take(step)) {
    emit(SealSnapshot{{era_.timeline, step}});
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
  told_.changed = true;
  if (is_news && era_.serving) {
    report();
  }
}

// ---- endings

void Lane::on(const StorageFailed& event) {
  ending_.failure = event.text;
  if (ending_.finishing) {
    ending_.leaving = true;  // the lead waits for nothing more from here
  }
  report();
  if (ending_.finishing) {
    stop(ending_.failure);
  }
}

void Lane::on_finish(const Finish& finish) {
  if (ending_.stopped) {
    return;
  }
  if (finish.ending == Ending::finished) {
    if (!std::exchange(ending_.finishing, true)) {
      emit(RecordFinish{{finish.timeline, finish.step}});
    }
    return;
  }
  ending_.leaving = true;
  report();
  stop(finish.failure);
}

void Lane::on(const FinishRecorded& /*event*/) {
  if (ending_.finishing && !ending_.stopped) {
    ending_.leaving = true;
    report();
    stop({});
  }
}

void Lane::on(const Trouble& event) {
  trouble_ = event.text;
  told_.changed = true;
}

void Lane::stop(std::string failure) {
  ending_.stopped = true;
  emit(Stop{std::move(failure)});
}

// ---- a server that is told to end

// Whoever serves nothing has nothing that is not durable, and nobody works in its timeline. Nor has a life with a
// journal, which the shell syncs.
void Lane::on(const Depart& /*event*/) {
  if (ending_.stopped || std::exchange(departure_.wanted, true)) {
    return;
  }
  departure_.since = lead_.now();
  if (ending_.finishing) {
    return;  // the end is being made durable, and then it leaves
  }
  if (!era_.serving || applier_.is_journaled()) {
    return leave(true, {});
  }
  report();
}

void Lane::leave(bool whole, std::string lost) {
  ending_.leaving = true;
  ending_.stopped = true;
  report();
  emit(Leave{whole, std::move(lost)});
}

std::string Lane::what_is_lost() const {
  if (ending_.finishing) {
    return "told to end, and the job's end was not durable here in the " +
           std::to_string(config_.hold_patience / 1'000'000) + " s since (cluster.hold_patience)";
  }
  const auto base = (snapshots_.kept().empty() ? era_.base : snapshots_.kept().back()).step;
  auto text = "told to end, and no snapshot was complete in the " + std::to_string(config_.hold_patience / 1'000'000) +
              " s since (cluster.hold_patience): the job goes back to the snapshot of step " + std::to_string(base);
  if (config_.chunks.empty()) {  // how far the others are is not known here
    text += ", and the steps from " + std::to_string(base) + " on are lost and computed again";
  } else if (applier_.open_step() > base) {
    text += ", and steps " + std::to_string(base) + " to " + std::to_string(applier_.open_step() - 1) +
            " are lost and computed again";
  } else {
    text += ", and what has come of step " + std::to_string(base) + " is lost and computed again";
  }
  if (lead_.is_away()) {
    text += "; the lead has not been heard of for " + std::to_string(lead_.silence() / 1'000'000) + " s";
  }
  const auto& trouble = snapshots_.trouble().empty() ? trouble_ : snapshots_.trouble();
  return text + (trouble.empty() ? "" : "; " + trouble);
}

// ---- time and reports

void Lane::on(const Tick& event) {
  lead_.tick(event.now);
  calls_.tick(event.now);
  emit_all(calls_.take_back(event.read_up_at));
  applier_.readers().tick(event.now);
  cut_readers();
  if (ending_.stopped) {
    return;
  }
  // Once it has said that the job is finished, it may be gone: what is left to do needs it no more.
  if (!ending_.finishing && lead_.is_given_up()) {
    return stop("the lead (shard 0) has not been heard of for " + std::to_string(lead_.silence() / 1'000'000) +
                " s (cluster.patience)");
  }
  if (departure_.wanted && lead_.now() - departure_.since > config_.hold_patience) {
    return leave(true, what_is_lost());
  }
  const auto every = told_.changed && !lead_.is_away() ? config_.report_every : config_.idle_report_every;
  if (told_.at == 0 || lead_.now() - told_.at >= every) {
    report();
  }
}

// The lead gives out nothing beyond its plan's end before it has heard that all are there.
void Lane::report_if_at_barrier(Step open_step) {
  if (era_.serving && applier_.version_at(open_step) == plan_.end() && !statistics_.awaits(open_step)) {
    report();
  }
}

void Lane::say_hello() {
  told_.at = lead_.now();
  const bool has_weights = era_.serving && !config_.chunks.empty();
  emit(SendToLead{ShardHello{config_.id, config_.shards, config_.lanes, config_.incarnation, config_.database,
                             config_.spec_digest, config_.layout_digest, config_.initial_weights, config_.address,
                             era_.timeline, has_weights ? applier_.open_step() : 0, snapshots_.stored(kMaxHeld),
                             applier_.lives(), era_.replayed, config_.run, reach_.found, reach_.lost, reach_.trouble}});
}

void Lane::report() {
  const bool is_last_word = !ending_.failure.empty() || ending_.leaving;
  // What is sent to a lead that is gone queues up until it is back.
  told_.changed = lead_.is_away();
  if (!is_last_word && (!era_.serving || told_.changed)) {
    say_hello();
    // What keeps it from serving, and then that it is over, a hello has no word for.
    if (told_.changed || (trouble_.empty() && !told_.of_trouble)) {
      return;
    }
  }
  told_.of_trouble = !trouble_.empty();
  told_.at = lead_.now();
  auto body = state_report();
  body.sequence = ++told_.sequence;
  emit(SendToLead{std::move(body)});
}

// Without the time that it takes: each text is told once.
std::string Lane::what_it_waits_for() const {
  const auto lane = "lane " + std::to_string(config_.id.lane);
  if (const auto chunk = applier_.readers().overdue()) {
    return lane + " has no room for an update of chunk " + std::to_string(*chunk) +
           " while older weights are read, and ends connections over which they are read slowest";
  }
  const auto awaited = calls_.awaited();
  return !awaited ? std::string()
                  : lane + " waits for step " + std::to_string(awaited->work.step) + " of chunk " +
                        std::to_string(awaited->work.chunk) + ", which session " + std::to_string(awaited->session) +
                        " offered, and does not send";
}

LaneReport Lane::state_report() const {
  LaneReport report;
  report.lane = config_.id;
  report.incarnation = config_.incarnation;
  report.timeline = era_.timeline;
  report.serving = era_.serving;
  report.open_step = applier_.open_step();
  report.planned = plan_.end();
  report.plan = plan_.number();
  applier_.tell(report);
  if (const auto wanted = applier_.oldest_wanted()) {
    report.rounds.wanted = wanted->slot;
    report.rounds.offered_by = calls_.bringers(*wanted, config_.slots, kMaxReachedBy);
  }
  if (!applier_.is_of_items()) {
    auto out = calls_.out_of_standing(kMaxOutOfStanding);
    report.rounds.out_of_standing = std::move(out.all);
    report.rounds.unpaying = std::move(out.unpaying);
  }
  snapshots_.tell(report);
  report.copy = copy_;
  report.trouble = snapshots_.trouble().empty() ? trouble_ : snapshots_.trouble();
  report.trouble = report.trouble.empty() ? what_it_waits_for() : report.trouble;
  report.statistics = statistics_.oldest(kMaxPlanned);
  for (const auto& [session, slots] : sessions_.contributions()) {
    report.slots_by_session.push_back({session, slots});
  }
  report.duplicates = applier_.counters().duplicates;
  report.superseded = applier_.counters().superseded;
  report.leaving = ending_.leaving;
  report.failure = ending_.failure;
  report.departing = departure_.wanted;
  return report;
}

}  // namespace ballast
