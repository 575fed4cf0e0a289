// The lead's side towards the shards: their hellos and reports, and timelines.
#include <algorithm>
#include <utility>

#include "common/protocol/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

constexpr std::size_t kReplacedRemembered = 1024;

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

void Lead::on(const FromLane& event) {
  if (const auto* hello = std::get_if<ShardHello>(event.message)) {
    on_shard_hello(event, *hello);
  } else if (const auto* report = std::get_if<LaneReport>(event.message)) {
    on_report(event, *report);
  }
}

// ---- hellos

bool Lead::check_shard_hello(const FromLane& event, const ShardHello& hello) {
  const auto refuse = [&](RefusalCode code, std::string text) {
    emit(SendToLane{event.lane, event.incarnation, Refused{code, std::move(text)}});
    return false;
  };
  if (hello.lane != event.lane || hello.incarnation != event.incarnation) {
    return refuse(RefusalCode::wrong_job, "the hello names shard " + number(hello.lane.shard) + ", lane " +
                                              number(hello.lane.lane) + ", but came from the connection of shard " +
                                              number(event.lane.shard) + ", lane " + number(event.lane.lane) +
                                              ", or of another of its lives");
  }
  if (hello.spec_digest != config_.spec_digest || hello.layout_digest != config_.layout_digest) {
    emit(SendToLane{event.lane, event.incarnation,
                    Refused{RefusalCode::wrong_job,
                            "shard " + number(hello.lane.shard) + " was started with another job file than the lead's",
                            config_.job}});
    return false;
  }
  if (hello.shards != config_.shards || hello.lanes != config_.lanes || hello.lane.shard >= config_.shards ||
      hello.lane.lane >= config_.lanes) {
    return refuse(RefusalCode::wrong_job, "shard " + number(hello.lane.shard) + " was started for " +
                                              number(hello.shards) + " shards of " + number(hello.lanes) +
                                              " lanes, the lead for " + number(config_.shards) + " of " +
                                              number(config_.lanes));
  }
  if (older_lives_.contains(hello.incarnation)) {
    return refuse(RefusalCode::incarnation, "a newer process has taken the place of this one as shard " +
                                                number(hello.lane.shard) + "; it may end");
  }
  // Lives have no order, and a dead one's hello may come late: whoever goes on speaking is the living one.
  const Micros patience = config_.shard_silence.floor / 6;
  const Micros heard = heard_of(hello.lane.shard);
  const auto replaced = replaced_.find(hello.incarnation);
  if (replaced == replaced_.end()) {
    return !would_take_back_another(hello) || now_ > heard + patience;
  }
  auto& asked_at = replaced->second;
  if (asked_at == 0) {
    asked_at = now_;
  }
  if (heard > asked_at + patience) {
    return refuse(RefusalCode::incarnation, "a newer process has taken the place of this one as shard " +
                                                number(hello.lane.shard) + "; it may end");
  }
  return now_ > asked_at + patience && now_ > heard + patience;
}

// A life without this timeline's journal takes the job back, in the place of one that has it.
bool Lead::would_take_back_another(const ShardHello& hello) const {
  return is_journaled() && timeline() > 0 && !can_resume(hello) &&
         std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) {
           return lane.first.shard == hello.lane.shard && lane.second.incarnation != hello.incarnation;
         });
}

Micros Lead::heard_of(std::uint32_t shard) const {
  Micros heard = 0;
  for (const auto& [id, lane] : lanes_) {
    heard = id.shard == shard ? std::max(heard, lane.heard_at) : heard;
  }
  return heard;
}

void Lead::on_shard_hello(const FromLane& event, const ShardHello& hello) {
  if (!check_shard_hello(event, hello)) {
    return;
  }
  if (is_over()) {
    return emit(SendToLane{event.lane, event.incarnation, finish_message()});
  }
  if (timeline() == 0 && hello.timeline > 0) {
    return fail("shard " + number(event.lane.shard) + "'s database holds timeline " + number(hello.timeline) +
                " of this job, but the ledger in shard 0's database is empty: it was lost or belongs to another run. "
                "Restore all shards from a copy (ballast restore), or start in a new folder");
  }
  admit(event, hello);
  if (book_.current().finished) {
    return;  // the end is being made durable, and what it rests on is: the shard is told of it then
  }
  if (lists(book_.current(), event.lane, event.incarnation)) {
    confirm_if_durable();
  } else if (can_resume(hello)) {
    resume_shard(hello);
  } else {
    // A life that the timeline does not list: whatever it held is not what the others' work rests on.
    if (std::exchange(phase_, Phase::assembling) != Phase::assembling) {
      assembling_since_ = now_;  // not again with every hello: patience with who is missing must end
    }
    if (lanes_.size() == std::size_t{config_.shards} * config_.lanes) {
      begin_timeline();
    }
  }
  begin_again_if_broken();
  if (is_confirmed() && lists(book_.durable(), event.lane, event.incarnation)) {
    send_confirm(event.lane, lanes_.at(event.lane));
  } else {
    send_sign_of_life(event.lane, event.incarnation);
  }
}

// Who waits with us for another shard must not take our silence for death. Before the first timeline nobody does.
void Lead::send_sign_of_life(LaneId id, Incarnation incarnation) {
  if (book_.durable().timeline > 0) {
    emit(SendToLane{id, incarnation, Refused{RefusalCode::not_serving, "the lead waits for other shards"}});
  }
}

void Lead::admit(const FromLane& event, const ShardHello& hello) {
  std::erase_if(lanes_, [&](const auto& lane) {
    if (lane.first.shard != event.lane.shard || lane.second.incarnation == hello.incarnation) {
      return false;
    }
    if (replaced_.size() == kReplacedRemembered) {
      replaced_.clear();
    }
    replaced_[lane.second.incarnation] = 0;
    return true;
  });
  replaced_.erase(hello.incarnation);
  note_older_lives(hello);
  auto& lane = lanes_.try_emplace(event.lane, LaneState(config_.shard_silence)).first->second;
  lane.incarnation = hello.incarnation;
  lane.address = hello.address;
  lane.timeline = hello.timeline;
  lane.reached = hello.reached;
  lane.lives = hello.lives;
  lane.heard_at = now_;
}

// ---- timelines

bool Lead::lists(const Ledger& ledger, LaneId lane, Incarnation incarnation) const {
  return lane.shard < ledger.incarnations.size() && ledger.incarnations[lane.shard] == incarnation;
}

void Lead::begin_timeline() {
  auto& ledger = book_.edit();
  const bool is_first = ledger.timeline == 0;
  if (is_first) {
    ledger.complete = {{0, 0}};  // the initial weights
  }
  ledger.base = ledger.complete.back();
  Step reached = std::max(open_step(), log_.next());
  for (const auto& [id, lane] : lanes_) {
    // A shard that knows of a newer timeline than a ledger brought back from a copy must not meet its number again.
    ledger.timeline = std::max(ledger.timeline, lane.timeline);
    reached = std::max(reached, lane.reached);
  }
  ++ledger.timeline;
  ++ledger.placement;
  ledger.incarnations.assign(config_.shards, 0);
  for (const auto& [id, lane] : lanes_) {
    ledger.incarnations[id.shard] = lane.incarnation;
  }
  if (!is_first) {
    ++ledger.rollbacks;
    ledger.rolled_back_steps += reached - std::min(reached, ledger.base.step);
  }
  phase_ = Phase::assembling;
  assembling_since_ = now_;
  rewind(ledger.base.step);
}

void Lead::rewind(Step base) {
  book_.trim(base);
  log_.trim(base);
  std::erase_if(evaluations_, [&](const EvaluationRecord& evaluation) { return evaluation.step > base; });
  schedule_.rewind(base);
  decided_.clear();
  decided_next_ = base;
  decisions_ = StepDecisions(config_.decisions);
  board_ = {};
  work_.rewind();
  items_.rewind();
  marks_.clear();
  begins_again_ = false;
  barrier_ = base;
  passed_ = base;
  come_to_ = base;
  no_cut_until_ = base;
  hold_.reset();
  hold_again_at_.reset();
  paused_ = false;
  for (auto& [id, lane] : lanes_) {
    lane.report.serving = false;
    lane.reached = 0;
    lane.lives = {{lane.incarnation, 0}};
  }
}

void Lead::confirm_if_durable() {
  if (phase_ != Phase::assembling || book_.durable().timeline != timeline() ||
      !all_lanes([](const LaneState&) { return true; }) ||
      !std::all_of(lanes_.begin(), lanes_.end(),
                   [&](const auto& lane) { return lists(book_.durable(), lane.first, lane.second.incarnation); })) {
    return;
  }
  phase_ = Phase::confirming;
  waits_for_.clear();
  for (const auto& [id, lane] : lanes_) {
    send_confirm(id, lane);
  }
}

void Lead::send_confirm(LaneId id, const LaneState& lane) {
  // A shard that knew the timeline when it said hello is serving it, or has it in its journal.
  const bool resumes = is_journaled() && lane.timeline == timeline();
  emit(SendToLane{id, lane.incarnation,
                  Confirm{lane.incarnation, timeline(),
                          resumes ? book_.durable().complete.back() : book_.durable().base, resumes}});
}

void Lead::send_confirms() {
  for (const auto& [id, lane] : lanes_) {
    if (!lane.report.serving && book_.durable().timeline == timeline() &&
        lists(book_.durable(), id, lane.incarnation)) {
      send_confirm(id, lane);
    }
  }
}

// ---- reports

Lead::LaneState* Lead::reporting_lane(const FromLane& event, const LaneReport& report) {
  const auto known = lanes_.find(event.lane);
  if (report.lane != event.lane || report.incarnation != event.incarnation) {
    return nullptr;
  }
  if (known == lanes_.end() || known->second.incarnation != event.incarnation) {
    if (is_over()) {
      emit(SendToLane{event.lane, event.incarnation, finish_message()});
    } else {
      emit(SendToLane{event.lane, event.incarnation, Refused{RefusalCode::unknown_session, "say hello first"}});
    }
    return nullptr;
  }
  auto& lane = known->second;
  lane.silence.observe(now_ - lane.heard_at);
  lane.heard_at = now_;
  return report.sequence > lane.report.sequence ? &lane : nullptr;
}

void Lead::on_report(const FromLane& event, const LaneReport& report) {
  auto* lane = reporting_lane(event, report);
  if (lane == nullptr) {
    return;
  }
  note_missed_reports(lane->report, report);
  lane->report = report;
  lane->left = lane->left || report.leaving;
  if (!report.failure.empty() && !is_over()) {
    return fail("shard " + number(event.lane.shard) + " cannot go on: " + report.failure);
  }
  if (is_over()) {
    if (!report.leaving) {
      emit(SendToLane{event.lane, event.incarnation, finish_message()});
    }
    return leave_when_told();
  }
  if (!is_confirmed()) {
    lane->report.serving = false;
    return send_sign_of_life(event.lane, event.incarnation);
  }
  if (report.timeline != timeline()) {
    lane->report.serving = false;
    if (book_.durable().timeline == timeline() && lists(book_.durable(), event.lane, event.incarnation)) {
      send_confirm(event.lane, *lane);
    }
    return;
  }
  take_marks(report);
  if (begin_again_if_broken()) {
    return;
  }
  on_statistics(report.statistics);
  adopt_decisions(report);
  observe_snapshots();
  progress();
  if (is_confirmed() && !is_over()) {
    decide();
  }
  if (is_confirmed() && !is_over()) {
    send_plan(event.lane, *lane);
  }
}

void Lead::on_statistics(const std::vector<StepStatistics>& statistics) {
  for (const auto& step : statistics) {
    if (log_.add(step)) {
      book_.add(step);
    }
  }
}

bool Lead::all_lanes(const std::function<bool(const LaneState&)>& holds) const {
  return lanes_.size() == std::size_t{config_.shards} * config_.lanes &&
         std::all_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) { return holds(lane.second); });
}

// ---- shards that are gone

void Lead::check_shards() {
  if (phase_ == Phase::assembling && book_.durable().timeline == 0) {
    return;  // any order of starts is allowed, and any time between them
  }
  waits_for_.clear();
  Micros longest = 0;
  for (std::uint32_t shard = 0; shard < config_.shards; ++shard) {
    for (std::uint32_t lane = 0; lane < config_.lanes; ++lane) {
      const auto known = lanes_.find({shard, lane});
      const Micros silent = now_ - (known == lanes_.end() ? std::min(assembling_since_, now_) : known->second.heard_at);
      const bool is_late =
          silent > (known == lanes_.end() ? config_.shard_silence.floor : known->second.silence.deadline());
      if (is_late && silent > longest) {
        longest = silent;
        waits_for_ = "shard " + number(shard) + " (lane " + number(lane) + "), not heard of for " +
                     number(silent / 1000) + " ms, at step " + number(open_step());
      }
    }
  }
  if (longest > config_.patience) {
    fail("gave up waiting for " + waits_for_ + " (cluster.patience)");
  }
}

}  // namespace ballast
