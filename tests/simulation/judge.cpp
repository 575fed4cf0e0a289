#include "tests/simulation/judge.h"

#include <algorithm>

#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string place(ChunkId chunk, Step step) { return "chunk " + number(chunk) + ", step " + number(step); }

}  // namespace

// ---- lanes

void Judge::asked(SessionId session, ChunkId chunk, Version version) { ++asked_[{session, chunk, version}]; }

void Judge::weights_sent(SessionId session, std::uint32_t lane, const Weights& header, std::uint64_t bytes,
                         Expression value) {
  const auto what = "weights of chunk " + number(header.chunk) + " at version " + number(header.version);
  auto& asked = asked_[{session, header.chunk, header.version}];
  if (asked == 0) {
    throw Violation(what + " sent to session " + number(session) + ", which did not ask for them");
  }
  --asked;
  if (header.version > life_.steps || value != reference_.weights(header.version, header.chunk)) {
    throw Violation(what + " differ from the reference");
  }
  auto& outstanding = reply_bytes_[{session, lane}];
  if (outstanding > 0 && outstanding + bytes > life_.reply_window_bytes) {
    throw Violation(what + ": replies to session " + number(session) + " exceed its window");
  }
  outstanding += bytes;
}

void Judge::replies_released(SessionId session, std::uint32_t lane, std::uint64_t bytes) {
  reply_bytes_[{session, lane}] -= bytes;
}

void Judge::receipt_sent(SessionId session, const Receipt& receipt, const HeldPayloads& held) {
  const auto what = "a receipt for " + place(receipt.chunk, receipt.step) + ", slots " + words(receipt.node);
  const auto version = versions_.at(receipt.chunk);
  if (receipt.step > version) {
    throw Violation(what + " of a step that has not begun");
  }
  const bool is_covered = std::any_of(held.begin(), held.end(), [&](const auto& entry) {
    return entry.second.chunk == receipt.chunk && entry.second.step == receipt.step &&
           entry.second.node.contains(receipt.node);
  });
  if (receipt.step == version && !is_covered) {
    throw Violation(what + " that is not covered");
  }
  if (receipt.outcome == ReceiptOutcome::accepted) {
    if (receipt.step < version) {
      throw Violation(what + " says accepted, but the step is closed");
    }
    if (receipt.chunk == life_.statistics()) {
      for (Slot slot = receipt.node.begin; slot < receipt.node.end; ++slot) {
        contributors_[slot] = session;
      }
    }
  }
}

void Judge::gone_sent(const Gone& gone) const {
  const auto version = versions_.at(gone.chunk);
  if (gone.version + 1 >= version || gone.held != version) {
    throw Violation("chunk " + number(gone.chunk) + " is at version " + number(version) + ", yet version " +
                    number(gone.version) + " is said to be gone, and " + number(gone.held) + " to be held");
  }
}

void Judge::refused_by_lane(const Refused& refused) const {
  if (refused.code != RefusalCode::not_serving) {
    throw Violation("a lane refuses a message of an honest worker: " + refused.text);
  }
}

void Judge::applied(ChunkId chunk, bool is_statistics, Step step, const HeldPayload& root, const StepFactors& used,
                    Expression result) {
  const auto what = place(chunk, step);
  if (step != versions_.at(chunk)) {
    throw Violation(what + ": applied out of turn, the chunk is at version " + number(versions_[chunk]));
  }
  if (is_statistics != (chunk == life_.statistics())) {
    throw Violation(what + ": taken for the statistics, or not");
  }
  for (Slot slot = 0; slot < life_.slots; ++slot) {
    const auto times = (root.payload.slots >> (4 * slot)) & 15U;
    if (times != 1) {
      throw Violation(what + ": slot " + number(slot) + " is in the root " + number(times) + " times");
    }
  }
  if (used != factors(step)) {
    throw Violation(what + ": applied with the factors of another step");
  }
  if (result != reference_.weights(step + 1, chunk)) {
    throw Violation(what + ": the new weights differ from the reference: another order of summation");
  }
  ++versions_[chunk];
  if (is_statistics) {
    for (const auto& [slot, session] : contributors_) {
      ++slots_by_session_[session];
    }
    contributors_.clear();
  }
}

void Judge::lane_settled(const HeldPayloads& held, std::size_t stated) const {
  if (held.size() != stated) {
    throw Violation("a lane's core speaks of " + number(stated) + " payloads, its shell keeps " + number(held.size()) +
                    ": a payload leaked");
  }
  std::map<ChunkId, std::vector<Node>> nodes;
  for (const auto& [id, entry] : held) {
    const auto what = place(entry.chunk, entry.step);
    if (entry.step != versions_.at(entry.chunk)) {
      throw Violation(what + ": a payload of a step that is not open is kept");
    }
    auto& chunk = nodes[entry.chunk];
    for (const auto other : chunk) {
      if (other.begin < entry.node.end && entry.node.begin < other.end) {
        throw Violation(what + ": slots " + words(other) + " and " + words(entry.node) + " are kept side by side");
      }
    }
    chunk.push_back(entry.node);
    if (chunk.size() > (life_.slots + 1) / 2) {
      throw Violation(what + ": more than half as many payloads as slots are kept");
    }
  }
}

void Judge::persisted(std::uint32_t lane, Step step) {
  const bool all_there =
      std::all_of(versions_.begin(), versions_.end(), [&](Version version) { return version == step; });
  if (step != life_.steps || !all_there) {
    throw Violation("lane " + number(lane) + " is told to make step " + number(step) +
                    " durable before the job is there");
  }
  persisted_.insert(lane);
}

// ---- workers

void Judge::check_slots(SlotRange range) const {
  if (range.begin > range.end || range.end > life_.slots) {
    throw Violation("slots " + words(range) + " of " + number(life_.slots));
  }
}

void Judge::computes(Step step, const std::vector<SlotRange>& ranges, Expression weights) const {
  if (ranges.empty() || step >= life_.steps) {
    throw Violation("a worker computes nothing, or beyond the job's end: step " + number(step));
  }
  for (const auto range : ranges) {
    check_slots(range);
    require(!range.empty(), "a worker computes an empty range");
  }
  if (weights != reference_.all(step)) {
    throw Violation("step " + number(step) + " is computed from weights that are not version " + number(step));
  }
}

void Judge::evaluates(const Evaluation& evaluation, Expression weights) const {
  if (evaluation.version > life_.steps || weights != reference_.all(evaluation.version)) {
    throw Violation("version " + number(evaluation.version) + " is evaluated from other weights");
  }
}

// ---- the lead

void Judge::assigned(SessionId session, const Assign& assign) {
  check_slots(assign.standing.slots);
  if (assign.standing.until > life_.steps || assign.standing.from > assign.standing.until) {
    throw Violation("a standing order for steps " + number(assign.standing.from) + " to " +
                    number(assign.standing.until));
  }
  if (assign.extra) {
    check_slots(assign.extra->slots);
    require(!assign.extra->slots.empty() && assign.extra->step < life_.steps, "an extra order for nothing");
  }
  if (assign.evaluation) {
    require(assign.evaluation->begin < assign.evaluation->end && assign.evaluation->end <= life_.test_examples,
            "an evaluation item outside the test split");
  }
  auto& known = orders_[session];
  if (assign.order < known.order || (assign.generation != 0 && assign.generation < known.generation)) {
    throw Violation("orders to session " + number(session) + " go backwards");
  }
  if (assign.order == known.order && assign.order != 0 && assign.generation != 0 && known.generation != 0 &&
      !(assign == known.last)) {
    throw Violation("two orders to session " + number(session) + " have the number " + number(assign.order));
  }
  known.order = assign.order;
  known.generation = std::max(known.generation, assign.generation);
  known.last = assign;
}

void Judge::planned(const Plan& plan) const {
  for (std::size_t i = 0; i < plan.factors.size(); ++i) {
    require(plan.factors[i] == factors(plan.first + i), "a plan with the factors of another step");
  }
  require(plan.first + plan.factors.size() <= life_.steps, "a plan beyond the job's end");
}

void Judge::recorded(const lead::LedgerRecord& record) {
  if (const auto* timeline = std::get_if<lead::TimelineRecord>(&record)) {
    require(!timeline_recorded_, "a second timeline, though no shard died");
    require(timeline->incarnations.size() == life_.shards, "a timeline that does not list every shard");
    timeline_recorded_ = true;
  } else {
    require(!finish_recorded_, "the end recorded twice");
    require(persisted_.size() == life_.all_lanes(), "the end recorded before every lane made it durable");
    finish_recorded_ = true;
  }
}

// ---- the end

void Judge::finished_well(const Status& status) const {
  require(finish_recorded_, "the lead left without having recorded the end");
  for (std::size_t chunk = 0; chunk < versions_.size(); ++chunk) {
    if (versions_[chunk] != life_.steps) {
      throw Violation("the job is over with chunk " + number(chunk) + " at version " + number(versions_[chunk]));
    }
  }
  require(status.phase == "finished" && status.failure.empty(), "the lead's status does not say finished");
  require(status.step == life_.steps, "the lead's status names another step");
  require(status.examples == reference_.examples(), "the lead's count of examples differs from the reference");
  require(status.train_loss == reference_.train_loss(), "the lead's training loss differs from the reference");
  if (life_.test_examples > 0) {
    require(status.evaluated && status.test_loss == reference_.test_loss() &&
                status.test_accuracy == reference_.test_accuracy(),
            "the evaluation differs from the reference");
  }
  for (const auto& session : status.sessions) {
    const auto own = slots_by_session_.find(session.session);
    if (session.slots != (own == slots_by_session_.end() ? 0 : own->second)) {
      throw Violation("session " + number(session.session) + " is credited with " + number(session.slots) + " slots");
    }
  }
  std::uint64_t slots = 0;
  for (const auto& session : status.sessions) {
    slots += session.slots;
  }
  require(slots == life_.steps * life_.slots, "the slots credited to sessions are not the job's");
}

}  // namespace ballast::simulation
