#include "protocol/lane/round_applier.h"

#include <algorithm>
#include <utility>

#include "protocol/tree.h"

namespace ballast {

RoundApplier::RoundApplier(const LaneConfig& config)
    : slots_(config.slots),
      steps_(config.steps),
      event_bytes_(config.event_bytes),
      measures_updates_(config.measures_updates),
      needs_whole_gradient_(config.needs_whole_gradient),
      chunks_(config.chunks, [&](const LaneChunk& chunk) { return Chunk(chunk, config.slots); }),
      next_decided_(chunks_.size()),
      brought_first_(config.slots),
      readers_({config.kept_bytes, config.kept_patience, config.kept_pause}) {}

// ---- contributions

Offered RoundApplier::offer(SessionId session, const Push& push, PayloadId payload, const FactorPlan& plan) {
  auto& chunk = *chunks_.find(push.chunk);
  Offered offered;
  // It takes the weights of all chunks, and those of a version that does not exist yet cannot have been pulled. Without
  // that one session could bring some chunks of the lane ahead of the others.
  if (push.step > open_step_ || push.step >= steps_) {
    offered.refused = {RefusalCode::out_of_range, place_of(push) + ": the lane's oldest chunk is at version " +
                                                      std::to_string(open_step_) + " of " + std::to_string(steps_) +
                                                      ", so nothing can have been computed from it"};
    return offered;
  }
  offered.receipt = ReceiptOutcome::duplicate;
  if (push.step == chunk.version) {
    collect(chunk, session, push, payload, offered);
  }
  if (offered.receipt == ReceiptOutcome::duplicate) {
    ++counters_.duplicates;
    offered.actions.emplace_back(lane::Drop{payload});
  } else {
    ++counters_.accepted;
    offered.measure = read_if_foreseen(chunk, plan);
  }
  return offered;
}

void RoundApplier::collect(Chunk& chunk, SessionId session, const Push& push, PayloadId payload, Offered& offered) {
  const auto taken = chunk.round.offer(push.node, payload, session);
  if (taken.outcome == Round::Outcome::accepted) {
    offered.receipt = ReceiptOutcome::accepted;
    chunk.fault = std::min(chunk.fault, push.fault);
    ++held_payloads_;
    if (chunk.spec.statistics) {
      note_first(session, push.node);
    }
  }
  counters_.superseded += taken.discarded.size();
  held_payloads_ -= taken.discarded.size() + taken.joins.size();
  if (taken.outcome == Round::Outcome::accepted) {
    held_bytes_ += chunk.spec.bytes;
    held_bytes_ -= (taken.discarded.size() + taken.joins.size()) * chunk.spec.bytes;
    root_bytes_ += needs_whole_gradient_ && chunk.round.covered() ? chunk.spec.bytes : 0;
    find_lowest();
  }
  for (const auto discarded : taken.discarded) {
    offered.actions.emplace_back(lane::Drop{discarded});
  }
  for (const auto& join : taken.joins) {
    const bool is_last = chunk.round.covered() && &join == &taken.joins.back();
    offered.actions.emplace_back(lane::Sum{join, chunk.spec.id, is_last});
  }
}

// A larger sum that comes later has the same bits, and takes nothing of what the first one has done.
void RoundApplier::note_first(SessionId session, Node node) {
  std::replace(brought_first_.begin() + node.begin, brought_first_.begin() + node.end, SessionId{0}, session);
}

// Once for each root.
std::optional<lane::Measure> RoundApplier::read_if_foreseen(Chunk& chunk, const FactorPlan& plan) {
  if (chunk.is_read || !chunk.round.covered()) {
    return std::nullopt;
  }
  const auto prospect = measures_updates_ ? plan.prospect(chunk.version) : Prospect{};
  if (!prospect) {
    return std::nullopt;
  }
  chunk.is_read = true;
  return lane::Measure{chunk.spec.id, chunk.version, chunk.round.root(), *prospect};
}

ApplierOutcome RoundApplier::measured(const lane::Measured& event, const FactorPlan& plan) {
  ApplierOutcome outcome;
  auto* chunk = chunks_.find(event.measure.chunk);
  // A root that was given up, or is applied, is of no use; another one may be in its place by now.
  if (chunk == nullptr || !chunk->round.covered() || chunk->round.root() != event.root) {
    return outcome;
  }
  chunk->measure = event.measure;
  chunk->measure->slot = event.measure.finite ? kNoSlot : chunk->fault;
  if (auto applied = apply_if_decided(*chunk, plan)) {
    outcome.applied.push_back(std::move(*applied));
  } else if (!readers_.waiting().contains(chunk->spec.id)) {
    outcome.report = wait_for_decision(*chunk);
  }
  return outcome;
}

ApplierOutcome RoundApplier::planned(const FactorPlan& plan) {
  next_decided_ = 0;
  for (const auto id : readers_.waiting_by_age()) {
    if (plan.find(chunks_.find(id)->version) == nullptr) {  // it ends before that
      readers_.waits_no_longer(id);
    }
  }
  return apply_decided(plan);
}

ApplierOutcome RoundApplier::committed(std::uint64_t /*ticket*/, std::uint64_t /*sequence*/,
                                       const FactorPlan& /*plan*/) {
  return {};
}

ApplierOutcome RoundApplier::go_on(const FactorPlan& plan) { return apply_decided(plan); }

// What a plan has decided or foreseen, as far as one event may go.
ApplierOutcome RoundApplier::apply_decided(const FactorPlan& plan) {
  ApplierOutcome outcome;
  for (auto bytes = apply_waiting(plan, outcome); next_decided_ < chunks_.size() && bytes < event_bytes_;
       ++next_decided_) {
    auto& chunk = chunks_[next_decided_];
    if (auto applied = apply_if_decided(chunk, plan)) {
      bytes += chunk.spec.bytes;
      outcome.applied.push_back(std::move(*applied));
    } else if (auto measure = read_if_foreseen(chunk, plan)) {
      bytes += chunk.spec.bytes;
      outcome.actions.emplace_back(std::move(*measure));
    }
  }
  return outcome;
}

// Those whose weights were still read: the bytes of what is applied.
std::uint64_t RoundApplier::apply_waiting(const FactorPlan& plan, ApplierOutcome& outcome) {
  std::uint64_t bytes = 0;
  if (!readers_.may_go_on()) {
    return bytes;
  }
  const auto waiting = readers_.waiting_by_age();
  for (auto at = waiting.begin(); at != waiting.end() && bytes < event_bytes_; ++at) {
    if (auto applied = apply_if_decided(*chunks_.find(*at), plan)) {
      bytes += applied->served.bytes;
      outcome.applied.push_back(std::move(*applied));
    }
  }
  if (bytes < event_bytes_) {
    readers_.tried();
  }
  return bytes;
}

std::optional<AppliedUpdate> RoundApplier::apply_if_decided(Chunk& chunk, const FactorPlan& plan) {
  const auto* known = plan.find(chunk.version);
  if (!chunk.measure || known == nullptr || (!chunk.measure->finite && !known->skip) ||
      !readers_.updates(chunk.spec.id)) {
    return std::nullopt;
  }
  AppliedUpdate update;
  update.node = {0, slots_};
  update.of_statistics = chunk.spec.statistics;
  if (chunk.spec.statistics) {
    update.contributors = std::exchange(brought_first_, std::vector<SessionId>(slots_));
  }
  chunk.reached_by = chunk.round.some_contributors(kMaxReachedBy);
  update.apply = {
      0,     chunk.spec.id, chunk.spec.statistics && !known->skip, chunk.version, chunk.version, chunk.round.close(),
      *known};
  --held_payloads_;
  held_bytes_ -= chunk.spec.bytes;
  root_bytes_ -= needs_whole_gradient_ ? chunk.spec.bytes : 0;
  waiting_chunks_ -= chunk.waits ? 1 : 0;
  reopen(chunk);
  ++chunk.version;
  update.served = served(chunk);
  update.at_step = chunk.version;
  if (--behind_ == 0) {
    ++open_step_;
    behind_ = chunks_.size();
    update.opened = {open_step_, open_step_};
    lowest_ = 0;
  }
  find_lowest();
  return update;
}

void RoundApplier::reopen(Chunk& chunk) {
  chunk.is_read = false;
  chunk.measure.reset();
  chunk.fault = kNoSlot;
  chunk.waits = false;
}

// Whether the lead has to know at once: it decides when it knows of all chunks, or of one that stops the job.
bool RoundApplier::wait_for_decision(Chunk& chunk) {
  if (std::exchange(chunk.waits, true)) {
    return false;
  }
  ++counters_.waited_for_factors;
  ++waiting_chunks_;
  return waiting_chunks_ == behind_ || !chunk.measure->finite;
}

// ---- what is called

bool RoundApplier::is_open(const Chunk& chunk) const {
  return chunk.version == open_step_ && !(needs_whole_gradient_ && chunk.round.covered());
}

// Within a step chunks are only ever done with.
void RoundApplier::find_lowest() {
  while (lowest_ < chunks_.size() && !is_open(chunks_[lowest_])) {
    ++lowest_;
  }
}

Want RoundApplier::want(const Work& work, const FactorPlan& /*plan*/) const {
  const auto& chunk = *chunks_.find(work.chunk);
  if (work.step > chunk.version || work.step >= steps_) {
    return Want::not_yet;
  }
  return work.step < chunk.version || chunk.round.covers(work.node) ? Want::covered : Want::wanted;
}

bool RoundApplier::joins(const Work& work) const {
  const auto family = tree::family(work.node, slots_);
  return family && chunks_.find(work.chunk)->round.holds(family->sibling);
}

Spine RoundApplier::spine() const {
  const auto* chunk = lowest_ < chunks_.size() ? &chunks_[lowest_] : nullptr;
  return {chunk == nullptr ? 0 : chunk->round.held_before_missing() * chunk->spec.bytes, root_bytes_};
}

std::optional<OldestWanted> RoundApplier::oldest_wanted() const {
  const auto* chunk = lowest_ < chunks_.size() ? &chunks_[lowest_] : nullptr;
  const auto slot = chunk == nullptr || chunk->version >= steps_ ? std::nullopt : chunk->round.first_missing();
  return slot ? std::optional(OldestWanted{chunk->version, chunk->spec.id, *slot}) : std::nullopt;
}

// ---- timelines

std::vector<PayloadId> RoundApplier::forget() {
  std::vector<PayloadId> payloads;
  for (auto& chunk : chunks_) {
    const auto held = chunk.round.reset();
    payloads.insert(payloads.end(), held.begin(), held.end());
    reopen(chunk);
  }
  std::ranges::fill(brought_first_, SessionId{0});
  held_payloads_ = 0;
  held_bytes_ = 0;
  root_bytes_ = 0;
  lowest_ = 0;
  next_decided_ = chunks_.size();
  waiting_chunks_ = 0;
  readers_.begin();
  return payloads;
}

void RoundApplier::begin(Step base, Incarnation /*incarnation*/) {
  base_ = base;
  for (auto& chunk : chunks_) {
    chunk.version = base;
    chunk.reached_by.clear();
  }
  // A lane without chunks holds nobody up.
  open_step_ = chunks_.empty() ? steps_ : base;
  behind_ = chunks_.size();
  lowest_ = 0;
}

ResumedItems RoundApplier::resume(const lane::Resumed& event) {
  begin(event.from, 0);
  return {open_step_, {}};
}

// ---- how far it is

std::optional<ServedChunk> RoundApplier::served(ChunkId id) const {
  const auto* chunk = chunks_.find(id);
  return chunk == nullptr ? std::nullopt : std::optional(served(*chunk));
}

WantedVersion RoundApplier::wanted(const Push& push) const { return {push.step + 1, kNoLeadNumber}; }

// The version before the newest is there as well, if it is of this timeline.
ServedChunk RoundApplier::served(const Chunk& chunk) const {
  return {chunk.spec.id, chunk.spec.bytes, chunk.version - (chunk.version > base_ ? 1 : 0), chunk.version};
}

bool RoundApplier::is_past(Step step) const {
  return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) { return chunk.version > step; });
}

std::vector<LaneChunk> RoundApplier::chunks_at(Step step) const {
  std::vector<LaneChunk> found;
  for (const auto& chunk : chunks_) {
    if (chunk.version == step) {
      found.push_back(chunk.spec);
    }
  }
  return found;
}

void RoundApplier::tell(LaneReport& report) const {
  SlotSet missing(slots_);
  for (const auto& chunk : chunks_) {
    if (chunk.version > report.rounds.reached) {
      report.rounds.reached = chunk.version;
      report.rounds.reached_by = chunk.reached_by;
    }
    if (chunk.version == open_step_ && chunk.version < steps_) {
      missing.insert(chunk.round.missing());
    }
    if (chunk.measure) {  // what the lead does with it is the lead's to know
      report.measures.push_back(*chunk.measure);
    }
  }
  report.rounds.missing = missing.words();
}

}  // namespace ballast
