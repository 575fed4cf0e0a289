#include "tests/simulation/judge/rounds.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/simulation/judge/replies.h"
#include "tests/simulation/judge/skips.h"
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

std::string place(ChunkId chunk, Step step) {
  return "chunk " + std::to_string(chunk) + ", step " + std::to_string(step);
}

bool overlap(Node left, Node right) { return left.begin < right.end && right.begin < left.end; }

}  // namespace

const RoundsJudge::History& RoundsJudge::history(Timeline timeline) const {
  const auto found = histories_.find(timeline);
  if (found == histories_.end()) {
    throw Violation("timeline " + std::to_string(timeline) + " is followed, which no durable ledger names");
  }
  return found->second;
}

void RoundsJudge::timeline_begins(const Disks& /*disks*/, Timeline timeline, SnapshotId base) {
  histories_[timeline] = {base.step, reference_, std::vector<Version>(life_.chunks.size(), base.step), {}, false};
}

void RoundsJudge::ledger_durable(const Ledger& ledger) {
  if (ledger.skipped != reference_->skipped()) {
    reference_ = std::make_shared<const Reference>(life_, ledger.skipped);
  }
  if (const auto known = histories_.find(ledger.timeline); known != histories_.end()) {
    known->second.reference = reference_;
  }
}

// ---- what lanes send

bool RoundsJudge::is_gone(Timeline timeline, const Gone& gone) const {
  const auto& known = history(timeline);
  const auto held = gone.averages ? 1U : 2U;  // versions
  return gone.version + held <= known.versions.at(gone.chunk) || gone.version < known.base;
}

void RoundsJudge::weights_sent(const Disks& /*disks*/, Timeline timeline, const Weights& header,
                               Expression value) const {
  const auto& known = history(timeline);
  require(!header.averages || life_.averaged_from, "averages are sent that the job does not keep");
  if (header.version > life_.steps || header.version < known.base ||
      value != (header.averages ? known.reference->evaluated(header.version, header.chunk)
                                : known.reference->weights(header.version, header.chunk))) {
    throw Violation(words_of(header) + " differ from the reference");
  }
}

void RoundsJudge::receipt_sent(SessionId session, Timeline timeline, const Receipt& receipt, const HeldPayloads& held) {
  auto& known = histories_.at(timeline);
  const auto what = "a receipt for " + place(receipt.chunk, receipt.step) + ", slots " + words(receipt.node);
  const auto version = known.versions.at(receipt.chunk);
  if (receipt.step > version) {
    throw Violation(what + " of a step that has not begun");
  }
  const bool is_covered = std::any_of(held.begin(), held.end(), [&](const auto& entry) {
    return entry.second.chunk == receipt.chunk && entry.second.step == receipt.step &&
           entry.second.payload.timeline == receipt.timeline && entry.second.node.contains(receipt.node);
  });
  if (receipt.step == version && !is_covered) {
    throw Violation(what + " that is not covered");
  }
  if (receipt.outcome != ReceiptOutcome::accepted) {
    return;
  }
  if (receipt.step < version) {
    throw Violation(what + " says accepted, but the step is closed");
  }
  if (receipt.chunk == life_.statistics()) {
    for (Slot slot = receipt.node.begin; slot < receipt.node.end; ++slot) {
      known.contributors.try_emplace(slot, session);  // whoever brought it first
    }
  }
}

// ---- updates

// Each slot once, in the tree's order.
void RoundsJudge::check_sum(const RoundUpdate& update, const HeldPayload& root) const {
  const auto what = "timeline " + std::to_string(update.timeline) + ", " + place(update.chunk, update.step);
  for (Slot slot = 0; slot < life_.slots; ++slot) {
    const auto times = (root.payload.slots >> (4 * slot)) & 15U;
    if (times != 1) {
      throw Violation(what + ": slot " + std::to_string(slot) + " is in the root " + std::to_string(times) + " times");
    }
  }
  if (root.payload.timeline != update.timeline) {
    throw Violation(what + ": the root holds contributions of another timeline");
  }
  if (root.payload.value != history(update.timeline).reference->root(update.step, update.chunk)) {
    throw Violation(what + ": the root differs from the reference: another order of summation");
  }
}

void RoundsJudge::check_update(const RoundUpdate& update, const HeldPayload& root, const ChunkValue& result) const {
  const auto what = "timeline " + std::to_string(update.timeline) + ", " + place(update.chunk, update.step);
  const auto& known = history(update.timeline);
  if (const auto version = known.versions.at(update.chunk); update.step != version) {
    throw Violation(what + ": applied out of turn, the chunk is at version " + std::to_string(version));
  }
  check_sum(update, root);
  if (!known.reference->agrees(update.step, update.factors)) {
    throw Violation(what + ": applied with other factors than the step's, or not skipped by the durable ledger's word");
  }
  if (!update.factors.skip && !is_finite(life_, update.chunk, update.step, root.payload)) {
    throw Violation(what + ": a gradient that is not finite is applied");
  }
  if (update.is_statistics != (update.chunk == life_.statistics() && !update.factors.skip)) {
    throw Violation(what + ": taken for the statistics, or not");
  }
  if (!(result == known.reference->value(update.step + 1, update.chunk))) {
    throw Violation(what + ": the new weights differ from the reference");
  }
}

std::vector<SessionId> RoundsJudge::applied(const RoundUpdate& update, const HeldPayload& root,
                                            const ChunkValue& result) {
  check_update(update, root, result);
  auto& known = histories_.at(update.timeline);
  ++known.versions[update.chunk];
  note_versions(known, update.chunk);
  std::vector<SessionId> credited;
  if (update.chunk == life_.statistics()) {
    for (const auto& [slot, session] : std::exchange(known.contributors, {})) {
      credited.push_back(session);
    }
  }
  return credited;
}

// A lane alone never lets its own chunks come apart, whatever it is sent.
void RoundsJudge::note_versions(History& known, ChunkId chunk) const {
  for (ChunkId other = 0; other < life_.chunks.size(); ++other) {
    const bool is_apart = known.versions[chunk] > known.versions[other] + 1;
    require(!is_apart || life_.chunks[other].lane != life_.chunks[chunk].lane,
            "two chunks of one lane are more than a version apart");
    known.is_torn = known.is_torn || is_apart;
  }
}

Payload RoundsJudge::true_root(Timeline timeline, Step step, ChunkId chunk) const {
  auto root = history(timeline).reference->root_payload(step, chunk);
  root.timeline = timeline;
  return root;
}

// ---- what lanes keep and say

void RoundsJudge::settled(Timeline timeline, const HeldPayloads& held) const {
  std::map<ChunkId, std::vector<Node>> nodes;
  for (const auto& [id, entry] : held) {
    const auto what = place(entry.chunk, entry.step);
    if (entry.step != version(timeline, entry.chunk)) {
      throw Violation(what + ": a payload of a step that is not open is kept");
    }
    if (entry.payload.timeline != timeline) {
      throw Violation(what + ": a payload of another timeline is kept");
    }
    auto& chunk = nodes[entry.chunk];
    for (const auto other : chunk) {
      if (overlap(other, entry.node)) {
        throw Violation(what + ": slots " + words(other) + " and " + words(entry.node) + " are kept side by side");
      }
    }
    chunk.push_back(entry.node);
    if (chunk.size() > (life_.slots + 1) / 2) {
      throw Violation(what + ": more than half as many payloads as slots are kept");
    }
  }
}

void RoundsJudge::snapshot_taken(SnapshotId id, ChunkId chunk, const ChunkValue& value) const {
  if (version(id.timeline, chunk) != id.step || !(value == this->value(id.timeline, id.step, chunk))) {
    throw Violation("the snapshot of step " + std::to_string(id.step) + " on timeline " + std::to_string(id.timeline) +
                    ": chunk " + std::to_string(chunk) + " is taken at another version");
  }
}

void RoundsJudge::reported(const LaneLife& /*lane*/, const LaneReport& report) const {
  for (const auto& measure : report.measures) {
    if (!measure.finite && measure.slot != first_fault(life_, measure.step, measure.chunk)) {
      throw Violation(place(measure.chunk, measure.step) + ": the gradient is not finite, and another slot than the " +
                      "first one to blame is named");
    }
  }
}

// ---- workers and the lead

void RoundsJudge::computes(Timeline timeline, Step step, Expression weights) const {
  if (weights != history(timeline).reference->all(step)) {
    throw Violation("step " + std::to_string(step) + " is computed from weights that are not version " +
                    std::to_string(step));
  }
}

void RoundsJudge::evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const {
  if (evaluation.version > life_.steps || weights != history(timeline).reference->all_evaluated(evaluation.version)) {
    throw Violation("version " + std::to_string(evaluation.version) + " is evaluated from other weights");
  }
}

void RoundsJudge::assigned(SessionId /*session*/, const Assign& assign) const {
  require(assign.items.grants.empty(), "an item is granted in a job of rounds");
}

void RoundsJudge::planned(const Plan& plan) const {
  for (std::size_t i = 0; i < plan.factors.size(); ++i) {
    if (!reference_->agrees(plan.first + i, plan.factors[i])) {
      throw Violation("a plan with other factors than step " + std::to_string(plan.first + i) +
                      "'s, or a skip that is not durable");
    }
  }
  const Step end = plan.first + plan.factors.size();
  require(!plan.prospect || *plan.prospect == reference_->prospect(end),
          "a plan with another prospect than that of the step after it");
}

// ---- what is durable

ChunkValue RoundsJudge::value(Timeline timeline, Step step, ChunkId chunk) const {
  return history(timeline).reference->value(step, chunk);
}

void RoundsJudge::check_logs(const StoredLedger& stored) const {
  for (const auto& step : stored.statistics) {
    if (!(step == reference_->statistics(step.step))) {
      throw Violation("the statistics of step " + std::to_string(step.step) +
                      " in the ledger differ from the reference");
    }
  }
  const auto& expected = reference_->evaluations();
  for (std::size_t i = 0; i < stored.evaluations.size(); ++i) {
    if (i >= expected.size() || !(stored.evaluations[i] == expected[i])) {
      throw Violation("evaluation " + std::to_string(i) + " in the ledger differs from the reference");
    }
  }
}

void RoundsJudge::check_end(Step end) const {
  require(end == reference_->end(), "the job ends at another step than the reference");
}

void RoundsJudge::check_evaluations(const StoredLedger& stored) const {
  require(stored.evaluations.size() == reference_->evaluations().size(), "an evaluation is missing in the ledger");
}

}  // namespace ballast::simulation
