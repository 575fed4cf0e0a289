#include "common/protocol/lane.h"

#include <algorithm>
#include <utility>

#include "common/protocol/tree.h"

namespace ballast {

using namespace lane;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

std::string range_text(SlotRange range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

}  // namespace

Lane::Lane(LaneConfig config)
    : config_(std::move(config)),
      sessions_({config_.max_sessions, config_.session_memory, config_.reply_window_bytes}),
      snapshots_(config_.last_timeline, config_.held),
      statistics_(std::any_of(config_.chunks.begin(), config_.chunks.end(),
                              [](const LaneChunk& chunk) { return chunk.statistics; }),
                  is_ledgered() ? config_.slots : 1) {
  timeline_ = config_.last_timeline;
  lives_ = config_.lives;
  beginning_ = config_.last_timeline;
  chunks_.reserve(config_.chunks.size());
  for (const auto& chunk : config_.chunks) {
    index_.emplace(chunk.id, chunks_.size());
    chunks_.emplace_back(chunk, config_.slots);
  }
  next_decided_ = chunks_.size();
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
  if (!sessions_.heard(event.session, now_)) {
    refuse(event.session, RefusalCode::unknown_session, "this session has not said hello to the lane");
  } else if (push != nullptr) {
    return on_push(event, *push);
  } else if (const auto* pull = std::get_if<Pull>(event.message)) {
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
  if (!sessions_.hello(session, now_)) {
    return refuse(session, RefusalCode::too_many,
                  "the lane has " + std::to_string(config_.max_sessions) + " sessions already");
  }
  emit(SendToWorker{session, LaneWelcome{timeline_, config_.incarnation, config_.credit_bytes}});
}

bool Lane::check_timeline(SessionId session, Timeline timeline) {
  if (!serving_ || timeline > timeline_) {
    // Not yet: the worker asks again.
    refuse(session, RefusalCode::not_serving,
           "the lane serves timeline " + std::to_string(serving_ ? timeline_ : 0) + ", not yet " +
               std::to_string(timeline));
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
      return refuse(session, RefusalCode::wrong_target, "chunk " + std::to_string(id) + " does not live on this lane");
    }
    const bool asks_newest = is_ledgered() && pull.version == kNewestVersion;
    if (!asks_newest && pull.version > updates(config_.steps)) {
      return refuse(session, RefusalCode::out_of_range,
                    "version " + std::to_string(pull.version) + " of chunk " + std::to_string(id) +
                        " will never be: the job makes " + std::to_string(updates(config_.steps)) +
                        " updates of a chunk");
    }
    send(sessions_.want(session, served(*chunk), pull.version, pull.ticket));
  }
}

// In rounds the version before the newest is there as well, if it is of this timeline.
ServedChunk Lane::served(const ChunkState& chunk) const {
  const bool has_older = !is_ledgered() && chunk.version > base_.step;
  return {chunk.spec.id, chunk.spec.bytes, chunk.version - (has_older ? 1 : 0), chunk.version};
}

void Lane::send(const std::optional<WeightsReply>& reply) {
  if (!reply) {
    return;
  }
  if (reply->is_gone) {
    const auto newest = find(reply->chunk)->version;
    emit(SendToWorker{reply->session, Gone{timeline_, reply->chunk, reply->version, newest}});
    return;
  }
  emit(SendWeights{
      reply->session,
      Weights{timeline_, config_.incarnation, reply->chunk, reply->version, reply->ticket, journal_sequence_},
      reply->bytes});
}

void Lane::on(const RepliesReleased& event) {
  sessions_.released(event.session, event.bytes);
  while (const auto next = sessions_.next_deferred(event.session)) {
    send(sessions_.reply(event.session, served(*find(next->chunk)), next->version, next->ticket));
  }
}

bool Lane::check_push(const FromWorker& event, const Push& push) {
  const auto* chunk = find(push.chunk);
  if (chunk == nullptr) {
    refuse(event.session, RefusalCode::wrong_target,
           "chunk " + std::to_string(push.chunk) + " does not live on this lane");
    return false;
  }
  const auto place = "chunk " + std::to_string(push.chunk) + ", step " + std::to_string(push.step);
  if (event.payload_bytes != chunk->spec.bytes) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": a contribution has " + std::to_string(chunk->spec.bytes) + " bytes, this one has " +
               std::to_string(event.payload_bytes));
    return false;
  }
  if (!tree::is_node(push.node, config_.slots)) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": " + range_text(push.node) + " is no node of the tree over " + std::to_string(config_.slots) +
               " slots");
    return false;
  }
  if (push.fault != kNoSlot && !push.node.contains(push.fault)) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": the slot said to be not finite, " + std::to_string(push.fault) + ", does not lie in " +
               range_text(push.node));
    return false;
  }
  if (is_ledgered()) {
    return check_item(event, push, *chunk);
  }
  // Weights of a version that does not exist yet cannot have been pulled.
  if (push.step > chunk->version || push.step >= config_.steps) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": the chunk is at version " + std::to_string(chunk->version) + " of " +
               std::to_string(config_.steps) + ", so nothing can have been computed from it");
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
  if (is_ledgered()) {
    return on_item(event, push, chunk);
  }
  auto outcome = ReceiptOutcome::duplicate;
  if (push.step == chunk.version) {
    auto offer = chunk.round.offer(push.node, event.payload, event.session);
    if (offer.outcome == Round::Outcome::accepted) {
      outcome = ReceiptOutcome::accepted;
      chunk.fault = std::min(chunk.fault, push.fault);
      ++held_payloads_;
      changed_ = true;
    }
    counters_.superseded += offer.discarded.size();
    held_payloads_ -= offer.discarded.size() + offer.joins.size();
    for (const auto payload : offer.discarded) {
      emit(Drop{payload});
    }
    for (const auto& join : offer.joins) {
      emit(Sum{join, chunk.spec.id, chunk.round.covered() && &join == &offer.joins.back()});
    }
  }
  if (outcome == ReceiptOutcome::accepted) {
    ++counters_.accepted;
  } else {
    ++counters_.duplicates;
    emit(Drop{event.payload});
  }
  emit(SendToWorker{event.session, Receipt{timeline_, push.step, push.chunk, push.node, outcome}});
  if (outcome == ReceiptOutcome::accepted) {
    measure_if_covered(chunk);
  }
  if (push.want_next && push.step + 1 <= config_.steps) {
    send(sessions_.want(event.session, served(chunk), push.step + 1, 0));
  }
}

// ---- rounds

void Lane::measure_if_covered(ChunkState& chunk) {
  if (chunk.round.covered()) {
    emit(Measure{chunk.spec.id, chunk.version, chunk.round.root()});
  }
}

void Lane::on(const Measured& event) {
  if (is_ledgered()) {
    return on_item_measured(event.measure);
  }
  auto* chunk = find(event.measure.chunk);
  if (chunk == nullptr || chunk->version != event.measure.step || !chunk->round.covered()) {
    return;
  }
  chunk->measure = event.measure;
  chunk->measure->slot = event.measure.finite ? kNoSlot : chunk->fault;
  apply_if_decided(*chunk);
}

bool Lane::apply_if_decided(ChunkState& chunk) {
  if (!chunk.measure) {
    return false;
  }
  const auto* known = plan_.find(chunk.version);
  if (known == nullptr || (!chunk.measure->finite && !known->skip)) {
    wait_for_decision(chunk);
    return false;
  }
  account(chunk);
  --held_payloads_;
  waiting_chunks_ -= chunk.waits ? 1 : 0;
  emit(Apply{chunk.spec.id, chunk.spec.statistics && !known->skip, chunk.version, chunk.version, chunk.round.close(),
             *known});
  if (chunk.spec.statistics && known->skip) {
    statistics_.add({chunk.version, 0, 0, 0});
  }
  chunk.measure.reset();
  chunk.fault = kNoSlot;
  chunk.waits = false;
  ++chunk.version;
  changed_ = true;
  take_snapshot(chunk);
  answer_waiting(chunk);
  if (--behind_ == 0) {
    advance_open_step();
  }
  return true;
}

// Those that a plan has decided, as far as one event may go.
void Lane::apply_decided() {
  for (std::uint64_t bytes = 0; next_decided_ < chunks_.size() && bytes < config_.event_bytes; ++next_decided_) {
    auto& chunk = chunks_[next_decided_];
    bytes += apply_if_decided(chunk) ? chunk.spec.bytes : 0;
  }
}

bool Lane::has_more() const {
  return next_decided_ < chunks_.size() || (!pending_.empty() && pending_.front().ticket <= committed_ticket_);
}

void Lane::on(const GoOn& /*event*/) {
  apply_decided();
  apply_committed();
}

void Lane::wait_for_decision(ChunkState& chunk) {
  if (!std::exchange(chunk.waits, true)) {
    ++counters_.waited_for_factors;
    ++waiting_chunks_;
  } else {
    return;
  }
  // The lead decides when it knows of all chunks, or of one that stops the job.
  if (waiting_chunks_ == behind_ || !chunk.measure->finite) {
    report();
  }
}

void Lane::account(const ChunkState& chunk) {
  if (!chunk.spec.statistics) {
    return;
  }
  for (const auto session : chunk.round.contributors()) {
    sessions_.contributed(session);
  }
}

void Lane::answer_waiting(const ChunkState& chunk) {
  for (const auto& reply : sessions_.answer_waiting(served(chunk))) {
    send(reply);
  }
}

void Lane::advance_open_step() {
  ++open_step_;
  behind_ = chunks_.size();
  plan_.passed(open_step_);
  report_if_at_barrier();
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

void Lane::refuse(SessionId session, RefusalCode code, std::string text) {
  ++counters_.refused;
  emit(SendToWorker{session, Refused{code, std::move(text)}});
}

Lane::ChunkState* Lane::find(ChunkId id) {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &chunks_[found->second];
}

LaneCounters Lane::counters() const {
  auto counters = counters_;
  counters.replies = sessions_.counters();
  return counters;
}

}  // namespace ballast
