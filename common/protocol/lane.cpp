#include "common/protocol/lane.h"

#include <algorithm>
#include <utility>

#include "common/protocol/tree.h"

namespace ballast {

using namespace lane;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string range_text(SlotRange range) { return "[" + number(range.begin) + ", " + number(range.end) + ")"; }

}  // namespace

Lane::Lane(LaneConfig config) : config_(std::move(config)) {
  chunks_.reserve(config_.chunks.size());
  for (const auto& chunk : config_.chunks) {
    index_.emplace(chunk.id, chunks_.size());
    chunks_.emplace_back(chunk, config_.slots);
  }
  // The first tick says hello at once.
  reported_at_ = 0;
  changed_ = true;
}

Actions Lane::step(const Event& event) {
  actions_.clear();
  std::visit([this](const auto& body) { on(body); }, event);
  return std::exchange(actions_, {});
}

// ---- the workers' side

void Lane::on(const FromWorker& event) {
  if (const auto* hello = std::get_if<LaneHello>(event.message)) {
    return on_hello(event.session, *hello);
  }
  const auto* push = std::get_if<Push>(event.message);
  const auto session = sessions_.find(event.session);
  if (session == sessions_.end()) {
    refuse(event.session, RefusalCode::unknown_session, "this session has not said hello to the lane");
  } else if (push != nullptr) {
    session->second.seen = now_;
    return on_push(event, *push);
  } else if (const auto* pull = std::get_if<Pull>(event.message)) {
    session->second.seen = now_;
    return on_pull(event.session, *pull);
  } else {
    refuse(event.session, RefusalCode::wrong_target, "a lane takes hellos, pulls and pushes from workers");
  }
  if (event.payload != kNoPayload) {
    emit(Drop{event.payload});
  }
}

void Lane::on_hello(SessionId session, const LaneHello& hello) {
  if (hello.spec_digest != config_.spec_digest || hello.layout_digest != config_.layout_digest) {
    return refuse(session, RefusalCode::wrong_job,
                  "this lane serves the job with digest " + config_.spec_digest + " and layout " +
                      config_.layout_digest + ", the worker has " + hello.spec_digest + " and " + hello.layout_digest +
                      "; start the worker with the lead's address of its own job");
  }
  if (!sessions_.contains(session) && !make_room_for_session()) {
    return refuse(session, RefusalCode::too_many, "the lane has " + number(kMaxSessions) + " sessions already");
  }
  sessions_[session].seen = now_;
  emit(SendToWorker{session, LaneWelcome{timeline_, config_.incarnation, config_.credit_bytes}});
}

bool Lane::make_room_for_session() {
  if (sessions_.size() < kMaxSessions) {
    return true;
  }
  const auto oldest = std::min_element(sessions_.begin(), sessions_.end(), [](const auto& left, const auto& right) {
    return left.second.seen < right.second.seen;
  });
  if (now_ - oldest->second.seen < config_.session_memory || oldest->second.reply_bytes != 0) {
    return false;
  }
  for (auto& chunk : chunks_) {
    chunk.waiting.erase(oldest->first);
  }
  sessions_.erase(oldest);
  return true;
}

bool Lane::check_timeline(SessionId session, Timeline timeline) {
  if (!serving_ || timeline > timeline_) {
    // Not yet: the worker asks again.
    refuse(session, RefusalCode::not_serving,
           "the lane serves timeline " + number(serving_ ? timeline_ : 0) + ", not yet " + number(timeline));
    return false;
  }
  if (timeline < timeline_) {
    ++counters_.stale;
    emit(SendToWorker{session, Stale{timeline_}});
    return false;
  }
  return true;
}

void Lane::on_pull(SessionId session, const Pull& pull) {
  if (!check_timeline(session, pull.timeline)) {
    return;
  }
  for (const auto id : pull.chunks) {
    auto* chunk = find(id);
    if (chunk == nullptr) {
      return refuse(session, RefusalCode::wrong_target, "chunk " + number(id) + " does not live on this lane");
    }
    if (pull.version > config_.steps) {
      return refuse(session, RefusalCode::out_of_range,
                    "version " + number(pull.version) + " of chunk " + number(id) + " will never be: the job has " +
                        number(config_.steps) + " steps");
    }
    want(session, *chunk, pull.version);
  }
}

void Lane::want(SessionId session, ChunkState& chunk, Version version) {
  if (version > chunk.version) {
    chunk.waiting[session] = version;
    return;
  }
  chunk.waiting.erase(session);
  reply(session, chunk, version);
}

void Lane::reply(SessionId session, const ChunkState& chunk, Version version) {
  const bool is_newest = version == chunk.version;
  const bool is_older = version + 1 == chunk.version && version >= base_;
  if (!is_newest && !is_older) {
    ++counters_.gone;
    emit(SendToWorker{session, Gone{timeline_, chunk.spec.id, version, chunk.version}});
    return;
  }
  auto& state = sessions_.at(session);
  if (state.reply_bytes > 0 && state.reply_bytes + chunk.spec.bytes > config_.reply_window_bytes) {
    // Nothing but this note is kept: which buffer it means is looked up when its turn comes.
    ++counters_.deferred;
    const auto same = std::find_if(state.deferred.begin(), state.deferred.end(),
                                   [&](const DeferredReply& deferred) { return deferred.chunk == chunk.spec.id; });
    if (same == state.deferred.end()) {
      state.deferred.push_back({chunk.spec.id, version});
    } else {
      same->version = version;
    }
    return;
  }
  counters_.served_older += is_older ? 1 : 0;
  state.reply_bytes += chunk.spec.bytes;
  emit(SendWeights{session, Weights{timeline_, config_.incarnation, chunk.spec.id, version}, chunk.spec.bytes});
}

void Lane::on(const RepliesReleased& event) {
  const auto session = sessions_.find(event.session);
  if (session == sessions_.end()) {
    return;
  }
  session->second.reply_bytes -= std::min(session->second.reply_bytes, event.bytes);
  drain(event.session);
}

void Lane::drain(SessionId session) {
  auto& state = sessions_.at(session);
  while (!state.deferred.empty()) {
    const auto next = state.deferred.front();
    const auto& chunk = chunks_[index_.at(next.chunk)];
    if (state.reply_bytes > 0 && state.reply_bytes + chunk.spec.bytes > config_.reply_window_bytes) {
      return;
    }
    state.deferred.pop_front();
    reply(session, chunk, next.version);
  }
}

bool Lane::check_push(const FromWorker& event, const Push& push) {
  const auto* chunk = find(push.chunk);
  if (chunk == nullptr) {
    refuse(event.session, RefusalCode::wrong_target, "chunk " + number(push.chunk) + " does not live on this lane");
    return false;
  }
  const auto place = "chunk " + number(push.chunk) + ", step " + number(push.step);
  if (event.payload_bytes != chunk->spec.bytes) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": a contribution has " + number(chunk->spec.bytes) + " bytes, this one has " +
               number(event.payload_bytes));
    return false;
  }
  if (!tree::is_node(push.node, config_.slots)) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": " + range_text(push.node) + " is no node of the tree over " + number(config_.slots) + " slots");
    return false;
  }
  // Weights of a version that does not exist yet cannot have been pulled.
  if (push.step > chunk->version || push.step >= config_.steps) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": the chunk is at version " + number(chunk->version) + " of " + number(config_.steps) +
               ", so nothing can have been computed from it");
    return false;
  }
  return true;
}

void Lane::on_push(const FromWorker& event, const Push& push) {
  if (!check_timeline(event.session, push.timeline) || !check_push(event, push)) {
    emit(Drop{event.payload});
    return;
  }
  auto& chunk = *find(push.chunk);
  auto outcome = ReceiptOutcome::duplicate;
  if (push.step == chunk.version) {
    auto offer = chunk.round.offer(push.node, event.payload, event.session);
    if (offer.outcome == Round::Outcome::accepted) {
      outcome = ReceiptOutcome::accepted;
      ++held_payloads_;
      changed_ = true;
    }
    counters_.superseded += offer.discarded.size();
    held_payloads_ -= offer.discarded.size() + offer.joins.size();
    for (const auto payload : offer.discarded) {
      emit(Drop{payload});
    }
    for (const auto& join : offer.joins) {
      emit(Sum{join, chunk.spec.id});
    }
  }
  if (outcome == ReceiptOutcome::accepted) {
    ++counters_.accepted;
  } else {
    ++counters_.duplicates;
    emit(Drop{event.payload});
  }
  emit(SendToWorker{event.session, Receipt{timeline_, push.step, push.chunk, push.node, outcome}});
  apply_if_covered(chunk);
  if (push.want_next && push.step + 1 <= config_.steps) {
    want(event.session, chunk, push.step + 1);
  }
}

// ---- rounds

void Lane::apply_if_covered(ChunkState& chunk) {
  if (chunk.version >= config_.steps || !chunk.round.covered()) {
    return;
  }
  const auto* known = factors(chunk.version);
  if (known == nullptr) {
    if (!std::exchange(chunk.reported_waiting, true)) {
      ++counters_.waited_for_factors;
      report();  // asks: `planned` tells the lead what is lacking
    }
    return;
  }
  account(chunk);
  chunk.reported_waiting = false;
  --held_payloads_;
  emit(Apply{chunk.spec.id, chunk.spec.statistics, chunk.version, chunk.round.close(), *known});
  ++chunk.version;
  changed_ = true;
  answer_waiting(chunk);
  if (--behind_ == 0) {
    advance_open_step();
  }
}

void Lane::account(const ChunkState& chunk) {
  if (!chunk.spec.statistics) {
    return;
  }
  for (const auto session : chunk.round.contributors()) {
    ++slots_by_session_[session];
  }
}

void Lane::answer_waiting(ChunkState& chunk) {
  for (auto waiting = chunk.waiting.begin(); waiting != chunk.waiting.end();) {
    if (waiting->second > chunk.version) {
      ++waiting;
      continue;
    }
    const auto [session, version] = *waiting;
    waiting = chunk.waiting.erase(waiting);
    if (sessions_.contains(session)) {
      reply(session, chunk, version);
    }
  }
}

void Lane::advance_open_step() {
  ++open_step_;
  behind_ = chunks_.size();
  report_if_at_barrier();
}

const StepFactors* Lane::factors(Step step) const {
  return step >= plan_first_ && step < planned_until() ? &plan_[step - plan_first_] : nullptr;
}

SlotSet Lane::missing() const {
  SlotSet missing(config_.slots);
  for (const auto& chunk : chunks_) {
    if (chunk.version == open_step_ && chunk.version < config_.steps) {
      missing.insert(chunk.round.missing());
    }
  }
  return missing;
}

// ---- the lead's side

void Lane::on(const FromLead& event) {
  lead_known_ = true;
  lead_heard_ = true;
  if (const auto* confirm = std::get_if<Confirm>(event.message)) {
    on_confirm(*confirm);
  } else if (const auto* plan = std::get_if<Plan>(event.message)) {
    on_plan(*plan);
  } else if (const auto* persist = std::get_if<Persist>(event.message)) {
    on_persist(*persist);
  } else if (const auto* finish = std::get_if<Finish>(event.message)) {
    on_finish(*finish);
  } else if (const auto* refused = std::get_if<Refused>(event.message)) {
    stopped_ = true;
    emit(Stop{"the lead refused this shard: " + refused->text});
  }
}

void Lane::on_confirm(const Confirm& confirm) {
  // Addressed to one incarnation: a word meant for an earlier life of this shard confirms nothing.
  if (confirm.incarnation != config_.incarnation || confirm.timeline <= std::max(timeline_, beginning_)) {
    return;
  }
  beginning_ = confirm.timeline;
  base_ = confirm.base;
  emit(Begin{confirm.timeline, confirm.base});
}

void Lane::on(const Begun& event) {
  if (event.timeline != beginning_) {
    return;
  }
  timeline_ = event.timeline;
  serving_ = true;
  for (auto& chunk : chunks_) {
    chunk.version = base_;
  }
  open_step_ = chunks_.empty() ? config_.steps : base_;
  behind_ = chunks_.size();
  report();
}

void Lane::on_plan(const Plan& plan) {
  if (plan.timeline != timeline_ || !serving_) {
    return;
  }
  std::erase_if(statistics_, [&](const StepStatistics& known) { return known.step < plan.statistics_through; });
  if (plan.first + plan.factors.size() <= planned_until() || plan.first > open_step_) {
    return;
  }
  plan_first_ = plan.first;
  plan_ = plan.factors;
  for (auto& chunk : chunks_) {
    apply_if_covered(chunk);
  }
}

void Lane::on_persist(const Persist& persist) {
  if (!serving_ || persist.timeline != timeline_ || open_step_ != persist.step || persist.step != config_.steps) {
    return;
  }
  if (persisted_) {
    report();
  } else if (!std::exchange(persisting_, true)) {
    emit(PersistFinal{persist.timeline, persist.step});
  }
}

void Lane::on(const Persisted& event) {
  if (event.timeline == timeline_ && event.step == config_.steps) {
    persisted_ = true;
    report();
  }
}

void Lane::on(const StorageFailed& event) {
  failure_ = event.text;
  report();
}

void Lane::on_finish(const Finish& finish) {
  if (stopped_) {
    return;
  }
  leaving_ = true;
  stopped_ = true;
  report();
  emit(Stop{finish.failure});
}

void Lane::on(const StatisticsRead& event) {
  statistics_.push_back(event.statistics);
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
  if (lead_known_ && now_ - lead_heard_at_ > config_.lead_silence) {
    stopped_ = true;
    emit(Stop{"the lead (shard 0) has not been heard of for " + number((now_ - lead_heard_at_) / 1000) + " ms"});
    return;
  }
  if (changed_ || now_ - reported_at_ >= config_.idle_report_every) {
    if (reported_at_ == 0 || now_ - reported_at_ >= config_.report_every) {
      report();
    }
  }
}

void Lane::report_if_at_barrier() {
  // The lead gives out nothing beyond its plan's end before it has heard that all are there.
  const bool has_statistics_to_come =
      std::any_of(chunks_.begin(), chunks_.end(), [](const ChunkState& chunk) { return chunk.spec.statistics; }) &&
      (statistics_.empty() || statistics_.back().step + 1 < open_step_);
  if (serving_ && open_step_ == planned_until() && !has_statistics_to_come) {
    report();
  }
}

void Lane::report() {
  reported_at_ = now_;
  changed_ = false;
  if (!serving_ && failure_.empty() && !leaving_) {
    emit(SendToLead{ShardHello{config_.id, config_.shards, config_.lanes, config_.incarnation, config_.spec_digest,
                               config_.layout_digest, config_.address}});
    return;
  }
  LaneReport report;
  report.lane = config_.id;
  report.incarnation = config_.incarnation;
  report.sequence = ++report_sequence_;
  report.timeline = timeline_;
  report.serving = serving_;
  report.open_step = open_step_;
  report.missing = missing().words();
  report.planned = planned_until();
  report.statistics.assign(statistics_.begin(), statistics_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                                          statistics_.size(), kMaxPlannedSteps)));
  for (const auto& [session, slots] : slots_by_session_) {
    report.slots_by_session.push_back({session, slots});
  }
  report.duplicates = counters_.duplicates;
  report.superseded = counters_.superseded;
  report.persisted = persisted_;
  report.leaving = leaving_;
  report.failure = failure_;
  emit(SendToLead{std::move(report)});
}

void Lane::refuse(SessionId session, RefusalCode code, std::string text) {
  ++counters_.refused;
  emit(SendToWorker{session, Refused{code, std::move(text)}});
}

Lane::ChunkState* Lane::find(ChunkId id) {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &chunks_[found->second];
}

std::size_t Lane::deferred_replies() const {
  std::size_t count = 0;
  for (const auto& [session, state] : sessions_) {
    count += state.deferred.size();
  }
  return count;
}

}  // namespace ballast
