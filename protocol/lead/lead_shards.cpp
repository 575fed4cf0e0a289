// The lead's side towards the shards that it has taken: timelines and reports.
#include <algorithm>
#include <utility>

#include "protocol/lead/base_choice.h"
#include "protocol/lead/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

void Lead::on(const FromLane& event) {
  if (const auto* hello = std::get_if<ShardHello>(event.message)) {
    on_shard_hello(event, *hello);
  } else if (const auto* report = std::get_if<LaneReport>(event.message)) {
    on_report(event, *report);
  }
}

// ---- timelines

void Lead::begin_timeline(RollbackCause cause) {
  const bool is_first = book_.current().timeline == 0;
  const auto base = is_first ? SnapshotId{} : choose_base(book_.current(), shards_.lanes(), log_.first());
  if (!base) {
    return await_base(cause);
  }
  stalled_.reset();
  auto& ledger = book_.edit();
  if (is_first) {
    ledger.complete = {{0, 0}};  // the initial weights
    ledger.provenance.initial_weights = initial_weights_of_others(config_.shards);
    ledger.copies.run = config_.run;
  } else if (has_trained() && !(ledger.held && *base == ledger.complete.back())) {
    count_rollback(cause, base->step);
  }
  if (!is_first) {
    go_back_to(ledger, *base, shards_.lanes());
  }
  ledger.held = false;
  ledger.base = ledger.complete.back();
  ledger.cut = ledger.base.step;
  ledger.kept.clear();
  for (const auto& [id, lane] : shards_.lanes()) {
    // A shard that knows of a newer timeline than a ledger brought back from a copy must not meet its number again.
    ledger.timeline = std::max(ledger.timeline, lane.timeline);
  }
  ++ledger.timeline;
  ++ledger.placement;
  ledger.incarnations.assign(config_.shards, 0);
  ledger.databases.assign(config_.shards, {});
  for (const auto& [id, lane] : shards_.lanes()) {
    ledger.incarnations[id.shard] = lane.incarnation;
    ledger.databases[id.shard] = lane.database;
  }
  phase_ = Phase::assembling;
  assembling_since_ = now_;
  rewind(ledger.base.step);
}

// Nobody works meanwhile. A shard may find copies yet, or come with another disk.
void Lead::await_base(RollbackCause cause) {
  if (!stalled_ || phase_ != Phase::assembling) {
    assembling_since_ = now_;
  }
  stalled_ = cause;
  phase_ = Phase::assembling;
}

void Lead::begin_if_stalled() {
  if (stalled_ && shards_.all_there() && !book_.current().finished) {
    begin_timeline(*stalled_);
  }
}

// Its shard has neither the base nor an undamaged copy of its part: there is another one, or all wait.
void Lead::begin_again_without_base(const ShardHello& hello) {
  if (std::ranges::find(hello.lost, book_.current().base) == hello.lost.end()) {
    return;
  }
  await_base(RollbackCause::shard);
  begin_if_stalled();
}

void Lead::count_rollback(RollbackCause cause, Step base) {
  auto& ledger = book_.edit();
  Step reached = std::max(course_.open_step(), log_.next());
  for (const auto& [id, lane] : shards_.lanes()) {
    reached = std::max(reached, lane.open_step);
  }
  ledger.rollbacks.count(cause);
  ledger.rolled_back_steps += reached - std::min(reached, base);
}

// Whether anybody is known to have worked on the timeline: this lead has given out something of it, or there is
// something beyond its base.
bool Lead::has_trained() const {
  const auto& ledger = book_.current();
  return course_.has_given_out(ledger.base.step) || ledger.complete.back().step > ledger.base.step ||
         std::max(course_.open_step(), log_.next()) > ledger.base.step ||
         std::ranges::any_of(shards_.lanes(), [&](const auto& lane) { return shows_training(lane.second); });
}

// By its hello and its newest report. A journal in which a later life began with something has updates.
bool Lead::shows_training(const LeadLane& lane) const {
  const Step base = book_.current().base.step;
  const bool had_updates = std::ranges::any_of(lane.lives, [](const ShardLife& life) { return life.begun > 0; });
  return (lane.timeline >= timeline() && (lane.open_step > base || had_updates)) ||
         (lane.report.timeline == timeline() && course_.has_passed(lane.report, base));
}

void Lead::rewind(Step base) {
  book_.trim(base);
  log_.trim(base);
  evaluations_.rewind(base);
  schedule_.rewind(base);
  planner_.rewind(base);
  course_.rewind(base);
  barrier_ = base;
  pauses_.rewind();
  tears_.rewind();
  shards_.stop_serving();
  for (auto& [id, lane] : shards_.lanes()) {
    lane.open_step = 0;
    lane.lives = {{lane.incarnation, 0}};
  }
}

void Lead::confirm_if_durable() {
  if (phase_ != Phase::assembling || stalled_ || book_.durable().timeline != timeline() || !shards_.all_there() ||
      !std::all_of(shards_.lanes().begin(), shards_.lanes().end(),
                   [&](const auto& lane) { return lists(book_.durable(), lane.first, lane.second.incarnation); })) {
    return;
  }
  phase_ = Phase::confirming;
  waits_for_.clear();
  for (const auto& [id, lane] : shards_.lanes()) {
    send_confirm(id, lane);
  }
}

void Lead::send_confirm(LaneId id, const LeadLane& lane) {
  // A shard that knew the timeline when it said hello is serving it, or has it in its journal.
  const bool resumes = course_.resumes_shards() && lane.timeline == timeline();
  const auto& ledger = book_.durable();
  const auto cut = book_.current().cut.value_or(0);
  emit(SendToLane{id, lane.incarnation,
                  Confirm{lane.incarnation, timeline(), resumes ? ledger.complete.back() : ledger.base, resumes, cut,
                          resumes && lane.replayed && lane.replayed->cut == cut && !is_below_cut(lane)}});
}

void Lead::send_confirms() {
  for (const auto& [id, lane] : shards_.lanes()) {
    if (!lane.report.serving && book_.durable().timeline == timeline() &&
        lists(book_.durable(), id, lane.incarnation)) {
      send_confirm(id, lane);
    }
  }
}

// ---- reports

LeadLane* Lead::reporting_lane(const FromLane& event, const LaneReport& report) {
  if (report.lane != event.lane || report.incarnation != event.incarnation) {
    return nullptr;
  }
  auto* lane = shards_.heard(event.lane, event.incarnation, now_);
  if (lane == nullptr) {
    // Also when the job is over: its hello says whether it has anything of the end.
    emit(SendToLane{event.lane, event.incarnation, Refused{RefusalCode::unknown_session, "say hello first"}});
    return nullptr;
  }
  if (!is_within_the_job(report)) {
    emit(SendToLane{event.lane, event.incarnation,
                    Refused{RefusalCode::out_of_range, "a report of versions that the job never comes to"}});
    return nullptr;
  }
  return report.sequence > lane->report.sequence ? lane : nullptr;
}

// What is beyond would have the others seem to be behind for ever.
bool Lead::is_within_the_job(const LaneReport& report) const {
  const auto items = course_.updates(config_.steps);
  const auto& covered = report.items.covered;
  return report.open_step <= config_.steps && report.rounds.reached <= config_.steps && report.items.reached <= items &&
         (covered.empty() || covered.back().end <= items);
}

void Lead::on_report(const FromLane& event, const LaneReport& report) {
  auto* lane = reporting_lane(event, report);
  if (lane == nullptr) {
    return;
  }
  const auto& before = lane->report;
  const bool copied = report.copy.done && !(report.copy == before.copy);
  const bool snapshots =
      report.held != before.held || report.writing != before.writing || report.failed != before.failed;
  shards_.take_report(event.lane, report, report.serving && is_confirmed() && report.timeline == timeline());
  lane->left = lane->left || report.leaving;
  if (lane->report.serving) {
    lane->hold(book_.current().base, book_.current().complete);  // it may have got it from a copy
  }
  if (!report.failure.empty() && !is_over()) {
    return fail("shard " + std::to_string(event.lane.shard) + " cannot go on: " + report.failure);
  }
  if (is_over()) {
    if (!report.leaving) {
      emit(SendToLane{event.lane, event.incarnation, finish_message()});
    }
    return leave_when_told();
  }
  if (!is_confirmed()) {
    return send_sign_of_life(event.lane, event.incarnation);
  }
  if (report.timeline != timeline()) {
    if (book_.durable().timeline == timeline() && lists(book_.durable(), event.lane, event.incarnation)) {
      send_confirm(event.lane, *lane);
    }
    return;
  }
  course_.take_marks(report);
  if (begin_again_if_broken()) {
    return;
  }
  turn_.copied = turn_.copied || copied;
  turn_.snapshots = on_statistics(report.statistics) || turn_.snapshots || snapshots;
  turn_.reported[event.lane] = event.incarnation;
  turn_.stirred = true;
}

// Whether some are new.
bool Lead::on_statistics(const std::vector<StepStatistics>& statistics) {
  bool is_news = false;
  for (const auto& step : statistics) {
    if (log_.add(step)) {
      book_.add(step);
      is_news = true;
    }
  }
  return is_news;
}

// ---- shards that come back within a timeline

bool Lead::can_resume(const ShardHello& hello) const {
  const auto& current = book_.current();
  return course_.resumes_shards() && current.timeline > 0 && hello.timeline == current.timeline &&
         !hello.lives.empty() && hello.lives.back().incarnation == hello.incarnation &&
         hello.lives.size() <= kMaxShardLives;  // a list that forgot one would call the marks of it broken
}

RollbackCause Lead::why_no_shard_resumes() const {
  const bool has_no_room = std::ranges::any_of(shards_.lanes(), [&](const auto& lane) {
    return lane.second.timeline == timeline() && lane.second.lives.size() > kMaxShardLives;
  });
  return has_no_room ? RollbackCause::lives : RollbackCause::shard;
}

void Lead::resume_shard(const ShardHello& hello) {
  auto& ledger = book_.edit();
  ledger.incarnations[hello.lane.shard] = hello.incarnation;
  ledger.databases.resize(config_.shards);
  ledger.databases[hello.lane.shard] = hello.database;
  ++ledger.placement;
  ++ledger.resumed_shards;
  course_.shard_resumed();
  if (phase_ == Phase::confirming) {
    phase_ = Phase::assembling;
  }
}

// It has all of its journal, and less than the cut that it was told: what all had, and others went on from, is lost. Of
// an older cut nothing is said by that.
bool Lead::is_below_cut(const LeadLane& lane) const {
  const auto& cut = book_.current().cut;
  return lane.replayed && !lane.report.serving && lane.timeline == timeline() && lane.replayed->cut == cut &&
         lane.replayed->covered < course_.updates(*cut);
}

void Lead::begin_again_if_below_cut() {
  const bool is_below =
      std::ranges::any_of(shards_.lanes(), [&](const auto& lane) { return is_below_cut(lane.second); });
  if (is_below && shards_.all_there() && !book_.current().finished) {
    begin_timeline(RollbackCause::below_cut);
  }
}

// Weights that a shard has lost were pulled, and updates made from them are elsewhere: the job goes back as a whole.
bool Lead::begin_again_if_broken() {
  if (book_.current().finished || !course_.is_broken(shards_)) {
    return false;
  }
  if (shards_.all_there()) {
    begin_timeline(RollbackCause::mark);
  } else if (std::exchange(phase_, Phase::assembling) != Phase::assembling) {
    assembling_since_ = now_;
  }
  return true;
}

// Who keeps the others from going on.
std::string Lead::without_base() const {
  const auto newest = book_.current().complete.back();
  const auto has = [&](const std::vector<SnapshotId>& ids) { return std::ranges::find(ids, newest) != ids.end(); };
  const auto& lanes = shards_.lanes();
  auto who = std::ranges::find_if(lanes, [&](const auto& lane) { return has(lane.second.lost); });
  if (who == lanes.end()) {
    who = std::ranges::find_if(lanes, [&](const auto& lane) { return !has(lane.second.held); });
  }
  const auto name = who == lanes.end() ? std::string("some shard")
                                       : "shard " + std::to_string(who->first.shard) + " (" +
                                             database_text(who->second.database) + ")";
  return "a snapshot that all shards hold, or can get from copies: " + name + ", which has lost its part of step " +
         std::to_string(newest.step) +
         ", and no set of copies is whole and undamaged. Start the shard with the database that has it (the right "
         "volume), or restore all shards from an older copy elsewhere (ballast restore)";
}

// ---- shards that are gone

void Lead::check_shards() {
  shards_.forget_silent_turned_away(now_);
  waits_for_.clear();
  if (phase_ == Phase::assembling && book_.durable().timeline == 0) {
    waits_for_ = shards_.who_has_not_come();  // any order of starts is allowed, and any time between them
    return wait_for_ledger();
  }
  auto silent = shards_.longest_silent(now_, assembling_since_, course_.open_step());
  waits_for_ = silent.who.empty() && book_.durable().held ? shards_.who_departs() : std::move(silent.who);
  if (stalled_ && waits_for_.empty() && shards_.all_there()) {
    waits_for_ = without_base();
    silent.span = now_ - assembling_since_;
  }
  if (silent.span > config_.patience) {
    fail("gave up waiting for " + waits_for_ + " (cluster.patience)");
  }
}

}  // namespace ballast
