#include "tests/simulation/judge.h"

#include <algorithm>

#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

// How the judge remembers a pull of the newest version.
constexpr Version kNewest = Version{1} << 63U;

std::string place(ChunkId chunk, Step step) {
  return "chunk " + std::to_string(chunk) + ", step " + std::to_string(step);
}

}  // namespace

Judge::Judge(const LifeSpec& life, const Disks& disks, const CopyPlace& place)
    : life_(life),
      disks_(disks),
      policy_(life.non_finite),
      items_(life.items ? std::make_unique<ItemJudge>(life, disks.present) : nullptr),
      copies_(life, disks.present, place),
      presence_(life),
      provenance_(life),
      pause_(life),
      stop_(life),
      reference_(life.items ? nullptr : std::make_shared<const Reference>(life, std::vector<StepRange>{})) {}

void Judge::resumes_with(NonFinite policy) {
  policy_ = policy;
  if (items_) {
    items_->resumes_with(policy);
  }
}

void Judge::lead_starts(Micros now) {
  orders_.clear();
  presence_.lead_starts(now);
  stop_.lead_starts();
  provenance_.lead_starts();
  if (items_) {
    items_->lead_starts();
  }
}

Version Judge::newest_for(std::uint64_t ticket) { return kNewest | ticket; }

const Judge::History& Judge::history(Timeline timeline) const {
  const auto found = histories_.find(timeline);
  if (found == histories_.end()) {
    throw Violation("timeline " + std::to_string(timeline) + " is followed, which no durable ledger names");
  }
  return found->second;
}

const Judge::History& Judge::serves(const LaneLife& lane) const {
  const auto& known = history(lane.timeline);
  const bool is_listed = known.incarnations[shard(lane.lane)] == lane.incarnation;
  if (!is_listed) {
    throw Violation("lane " + std::to_string(lane.lane) + " serves timeline " + std::to_string(lane.timeline) +
                    ", which does not list its life " + std::to_string(lane.incarnation));
  }
  if (disks_.of(shard(lane.lane), lane.database.database).timeline < lane.timeline) {
    throw Violation("lane " + std::to_string(lane.lane) + " serves timeline " + std::to_string(lane.timeline) +
                    " before its own record of it is durable");
  }
  return known;
}

Slot Judge::first_fault(Step step, ChunkId chunk) const {
  Slot first = kNoSlot;
  for (const auto& fault : life_.non_finite_gradients) {
    if (fault.step == step && fault.chunk == chunk) {
      first = std::min(first, fault.slot);
    }
  }
  return first;
}

bool Judge::is_faulty(Step step) const {
  return std::any_of(life_.non_finite_gradients.begin(), life_.non_finite_gradients.end(),
                     [&](const LifeFault& fault) { return fault.step == step; });
}

// ---- lanes

void Judge::lane_starts(const LaneLife& lane) {
  newest_lives_[shard(lane.lane)] = lane.incarnation;
  const auto& disk = disks_.of(shard(lane.lane), lane.database.database);
  if (items_ && (disk.timeline < ledger_.timeline || disk.journal.timeline != disk.timeline)) {
    items_->cannot_resume();
  }
  if (life_.chunks[life_.statistics()].lane == lane.lane) {
    slots_by_session_.clear();
    counts_slots_ = false;
  }
}

// The shard's, and not one that another has taken the place of and that does not know it yet.
bool Judge::is_present(const LaneLife& lane) const {
  const auto newest = newest_lives_.find(shard(lane.lane));
  return newest != newest_lives_.end() && newest->second == lane.incarnation;
}

void Judge::asked(SessionId session, ChunkId chunk, Version version) { ++asked_[{session, chunk, version}]; }

void Judge::weights_sent(SessionId session, const LaneLife& lane, const Weights& header, std::uint64_t bytes,
                         Expression value) {
  const auto what =
      "weights of chunk " + std::to_string(header.chunk) + " at version " + std::to_string(header.version);
  const auto& known = serves(lane);
  if (header.timeline != lane.timeline || header.incarnation != lane.incarnation) {
    throw Violation(what + " are sent under another timeline or by another life");
  }
  const auto wanted = header.ticket != 0 ? newest_for(header.ticket) : header.version;
  auto& asked = asked_[{session, header.chunk, wanted}];
  if (asked == 0) {
    throw Violation(what + " sent to session " + std::to_string(session) + ", which did not ask for them");
  }
  --asked;
  if (items_) {
    items_->weights_sent(lane.timeline, header, value);
  } else if (header.version > life_.steps || header.version < known.base.step ||
             value != known.reference->weights(header.version, header.chunk)) {
    throw Violation(what + " differ from the reference");
  }
  auto& outstanding = reply_bytes_[{session, lane.process}];
  if (outstanding > 0 && outstanding + bytes > life_.reply_window_bytes) {
    throw Violation(what + ": replies to session " + std::to_string(session) + " exceed its window");
  }
  outstanding += bytes;
}

void Judge::replies_released(SessionId session, const LaneLife& lane, std::uint64_t bytes) {
  reply_bytes_[{session, lane.process}] -= bytes;
}

void Judge::receipt_sent(SessionId session, const LaneLife& lane, const Receipt& receipt, const HeldPayloads& held) {
  serves(lane);
  require(receipt.timeline == lane.timeline, "a receipt of another timeline than the lane's");
  if (items_) {
    return items_->receipt_sent(session, lane.timeline, receipt);
  }
  check_round_receipt(lane, histories_.at(lane.timeline), session, receipt, held);
}

void Judge::check_round_receipt(const LaneLife& /*lane*/, History& known, SessionId session, const Receipt& receipt,
                                const HeldPayloads& held) const {
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
  if (receipt.outcome == ReceiptOutcome::accepted) {
    if (receipt.step < version) {
      throw Violation(what + " says accepted, but the step is closed");
    }
    if (receipt.chunk == life_.statistics()) {
      for (Slot slot = receipt.node.begin; slot < receipt.node.end; ++slot) {
        known.contributors[slot] = session;
      }
    }
  }
}

void Judge::gone_sent(const LaneLife& lane, const Gone& gone) const {
  const auto& known = serves(lane);
  const auto version = items_ ? items_->version(lane.timeline, gone.chunk) : known.versions.at(gone.chunk);
  // Of items only the newest version is kept.
  const bool is_old = items_ ? gone.version < version : gone.version + 1 < version || gone.version < known.base.step;
  if (!is_old || gone.held != version || gone.timeline != lane.timeline) {
    throw Violation("chunk " + std::to_string(gone.chunk) + " is at version " + std::to_string(version) +
                    ", yet version " + std::to_string(gone.version) + " is said to be gone, and " +
                    std::to_string(gone.held) + " to be held");
  }
}

void Judge::stale_sent(const LaneLife& lane, const Stale& stale) const {
  serves(lane);
  require(stale.timeline == lane.timeline, "a lane names another timeline than its own as the current one");
}

void Judge::refused_by_lane(const Refused& refused) const {
  if (refused.code != RefusalCode::not_serving && refused.code != RefusalCode::unknown_session) {
    throw Violation("a lane refuses a message of an honest worker: " + refused.text);
  }
}

void Judge::applied(const LaneLife& lane, ChunkId chunk, bool is_statistics, Step step, const HeldPayload& root,
                    const StepFactors& used, const ChunkValue& result) {
  const auto what = "timeline " + std::to_string(lane.timeline) + ", " + place(chunk, step);
  serves(lane);
  pause_.applied_round(lane.timeline, step);
  auto& known = histories_.at(lane.timeline);
  if (step != known.versions.at(chunk)) {
    throw Violation(what + ": applied out of turn, the chunk is at version " + std::to_string(known.versions[chunk]));
  }
  for (Slot slot = 0; slot < life_.slots; ++slot) {
    const auto times = (root.payload.slots >> (4 * slot)) & 15U;
    if (times != 1) {
      throw Violation(what + ": slot " + std::to_string(slot) + " is in the root " + std::to_string(times) + " times");
    }
  }
  if (root.payload.timeline != lane.timeline) {
    throw Violation(what + ": the root holds contributions of another timeline");
  }
  const auto& reference = *known.reference;
  if (root.payload.value != reference.root(step, chunk)) {
    throw Violation(what + ": the root differs from the reference: another order of summation");
  }
  if (!reference.agrees(step, used)) {
    throw Violation(what + ": applied with other factors than the step's, or not skipped by the durable ledger's word");
  }
  if (!used.skip && !measure(life_, chunk, step, root.payload).finite) {
    throw Violation(what + ": a gradient that is not finite is applied");
  }
  if (is_statistics != (chunk == life_.statistics() && !used.skip)) {
    throw Violation(what + ": taken for the statistics, or not");
  }
  if (!(result == reference.value(step + 1, chunk))) {
    throw Violation(what + ": the new weights differ from the reference");
  }
  ++known.versions[chunk];
  if (chunk == life_.statistics()) {
    for (const auto& [slot, session] : known.contributors) {
      slots_by_session_[session] += is_present(lane) ? 1 : 0;
    }
    known.contributors.clear();
  }
}

// ---- items

namespace {

ItemUpdate item_update(const LaneLife& lane, const HeldPayload& held, Version version, const StepFactors& factors) {
  return {lane.process, lane.lane, lane.timeline, held.chunk,   held.step,
          held.node,    version,   factors,       held.payload, held.session};
}

}  // namespace

void Judge::item_appended(const LaneLife& lane, const lane::Append& action, const HeldPayload& held,
                          std::uint64_t sequence) {
  serves(lane);
  require(action.session == held.session, "an update is appended under another session than its own");
  items_->appended(item_update(lane, held, action.version, action.factors), action, sequence);
}

void Judge::item_applied(const LaneLife& lane, const lane::Apply& action, const HeldPayload& held,
                         const ChunkValue& result) {
  serves(lane);
  pause_.applied_item();
  require(action.statistics == (action.chunk == life_.statistics() && !action.factors.skip),
          "a chunk is taken for the statistics, or not");
  items_->applied(item_update(lane, held, action.version, action.factors), result);
  if (action.chunk == life_.statistics() && is_present(lane)) {
    ++slots_by_session_[held.session];
  }
}

void Judge::resumed(const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values,
                    const std::vector<JournalRecord>& records) {
  if (life_.chunks[life_.statistics()].lane == lane.lane) {
    counts_slots_ = !finish_recorded();
  }
  const auto& known = serves(lane);
  for (const auto& [chunk, value] : values) {
    require(value == this->value(known, lane.timeline, base.step, chunk),
            "a chunk goes on from a snapshot with other weights");
  }
  items_->recovered(lane.process, lane.lane, lane.timeline, base.step,
                    disks_.of(shard(lane.lane), lane.database.database).journal, records);
}

void Judge::expired(const LaneLife& lane, const Receipt& receipt, Version base) const {
  serves(lane);
  items_->expired(lane.timeline, receipt, base);
}

// ---- lanes, and what they keep

void Judge::lane_settled(const LaneLife& lane, const HeldPayloads& held, std::size_t stated) const {
  if (held.size() != stated) {
    throw Violation("a lane's core speaks of " + std::to_string(stated) + " payloads, its shell keeps " +
                    std::to_string(held.size()) + ": a payload leaked");
  }
  if (held.empty()) {
    return;
  }
  const auto& known = serves(lane);
  if (items_) {
    std::set<std::pair<ChunkId, ItemId>> kept;
    for (const auto& [id, entry] : held) {
      const ItemId item = entry.step * life_.slots + entry.node.begin;
      require(items_->is_pending(lane.timeline, entry.chunk, item), "a payload is kept that waits for no commit");
      require(kept.emplace(entry.chunk, item).second, "one item's payload is kept twice");
    }
    return;
  }
  std::map<ChunkId, std::vector<Node>> nodes;
  for (const auto& [id, entry] : held) {
    const auto what = place(entry.chunk, entry.step);
    if (entry.step != known.versions.at(entry.chunk)) {
      throw Violation(what + ": a payload of a step that is not open is kept");
    }
    if (entry.payload.timeline != lane.timeline) {
      throw Violation(what + ": a payload of another timeline is kept");
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

void Judge::began(const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values) {
  if (life_.chunks[life_.statistics()].lane == lane.lane) {
    counts_slots_ = !finish_recorded();
  }
  const auto& known = serves(lane);
  require(base == known.base, "a lane begins a timeline at another base than the ledger's");
  if (items_) {
    items_->lane_began(lane.process, lane.lane, lane.timeline, base.step);
  }
  for (const auto& [chunk, value] : values) {
    if (!(value == this->value(known, lane.timeline, base.step, chunk))) {
      throw Violation("chunk " + std::to_string(chunk) + " of the base of timeline " + std::to_string(lane.timeline) +
                      " differs from the reference");
    }
  }
}

void Judge::snapshot_taken(const LaneLife& lane, SnapshotId id, ChunkId chunk, const ChunkValue& value) const {
  const auto what = "the snapshot of step " + std::to_string(id.step) + " on timeline " + std::to_string(id.timeline);
  const auto& known = serves(lane);
  if (id.timeline != lane.timeline || !known.ordered.contains(id.step)) {
    throw Violation(what + " is taken, which nobody has ordered");
  }
  if (items_) {
    if (chunk != life_.statistics()) {
      items_->snapshot_taken(id.timeline, id.step, chunk, value);
    }
    return;
  }
  if (known.versions.at(chunk) != id.step || !(value == known.reference->value(id.step, chunk))) {
    throw Violation(what + ": chunk " + std::to_string(chunk) + " is taken at another version");
  }
}

void Judge::deletes(std::uint32_t shard, SnapshotId id) const {
  const auto& complete = ledger_.complete;
  if (std::find(complete.begin(), complete.end(), id) != complete.end() || complete.empty()) {
    throw Violation("shard " + std::to_string(shard) + " deletes the snapshot of step " + std::to_string(id.step) +
                    " on timeline " + std::to_string(id.timeline) + ", which the durable ledger lists");
  }
  require(id < complete.back(), "a shard deletes a snapshot that may still become the newest complete one");
}

void Judge::records_finish(const LaneLife& lane, SnapshotId end) const {
  require(ledger_.finished == end, "a shard records the end before the ledger does, or another end");
  for (ChunkId chunk = 0; chunk < life_.statistics(); ++chunk) {
    require(life_.chunks[chunk].lane != lane.lane ||
                disks_.of(shard(lane.lane), lane.database.database).durable(end, chunk) != nullptr,
            "a shard records an end of which it has nothing");
  }
}

// ---- servers that say they are a shard

void Judge::turned_away(const LaneLife& lane) const {
  const auto at = shard(lane.lane);
  const bool is_own = at < ledger_.databases.size() && ledger_.databases[at].database == lane.database.database;
  require(!is_own || lane.database.count < disks_.of(at, lane.database.database).life.count,
          "the lead turns away the shard that its ledger lists, or a later life of it");
}

void Judge::reported(const LaneLife& lane, const LaneReport& report) const {
  for (const auto id : report.held) {
    for (ChunkId chunk = 0; chunk < life_.statistics(); ++chunk) {
      if (life_.chunks[chunk].lane == lane.lane &&
          disks_.of(shard(lane.lane), lane.database.database).durable(id, chunk) == nullptr &&
          id >= ledger_.complete.back()) {
        throw Violation("lane " + std::to_string(lane.lane) + " says that it holds the snapshot of step " +
                        std::to_string(id.step) + ", but chunk " + std::to_string(chunk) + " is not durable");
      }
    }
  }
  if (items_ && report.timeline == lane.timeline) {
    items_->reported(lane.process, lane.lane, report);
  }
  for (const auto& measure : report.measures) {
    if (items_) {
      require(!measure.finite, "a measure is reported that stops nobody");
      continue;
    }
    if (!measure.finite && measure.slot != first_fault(measure.step, measure.chunk)) {
      throw Violation(place(measure.chunk, measure.step) + ": the gradient is not finite, and another slot than the " +
                      "first one to blame is named");
    }
  }
}

// ---- workers

void Judge::check_slots(SlotRange range) const {
  if (range.begin > range.end || range.end > life_.slots) {
    throw Violation("slots " + words(range) + " of " + std::to_string(life_.slots));
  }
}

void Judge::computes(Timeline timeline, Step step, const std::vector<SlotRange>& ranges, Expression weights) const {
  if (ranges.empty() || step >= life_.steps) {
    throw Violation("a worker computes nothing, or beyond the job's end: step " + std::to_string(step));
  }
  for (const auto range : ranges) {
    check_slots(range);
    require(!range.empty(), "a worker computes an empty range");
  }
  if (weights != history(timeline).reference->all(step)) {
    throw Violation("step " + std::to_string(step) + " is computed from weights that are not version " +
                    std::to_string(step));
  }
}

void Judge::evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const {
  const auto& known = history(timeline);
  if (items_ && items_->has_lost(timeline)) {
    return;  // a worker may have weights that are lost; what the ledger says of them is looked at in the end
  }
  if (evaluation.version > life_.steps ||
      weights != (items_ ? items_->weights(timeline, evaluation.version) : known.reference->all(evaluation.version))) {
    throw Violation("version " + std::to_string(evaluation.version) + " is evaluated from other weights");
  }
}

// ---- the lead

// ---- orders

void Judge::assigned(SessionId session, const Assign& assign) {
  stop_.assigned(session, assign);
  if (!assign.standing.slots.empty() || assign.extra || assign.evaluation || !assign.grants.empty()) {
    provenance_.works(session);
  }
  check_slots(assign.standing.slots);
  if (assign.standing.until > life_.steps || assign.standing.from > assign.standing.until) {
    throw Violation("a standing order for steps " + std::to_string(assign.standing.from) + " to " +
                    std::to_string(assign.standing.until));
  }
  if (assign.timeline != 0 && assign.timeline != ledger_.timeline) {
    throw Violation("an order of timeline " + std::to_string(assign.timeline) + ", which is not the durable ledger's");
  }
  if (assign.extra) {
    check_slots(assign.extra->slots);
    require(!assign.extra->slots.empty() && assign.extra->step < life_.steps, "an extra order for nothing");
  }
  if (assign.evaluation) {
    const auto examples = assign.evaluation->split == Split::test ? life_.test_examples : life_.validation_examples;
    require(assign.evaluation->begin < assign.evaluation->end && assign.evaluation->end <= examples,
            "an evaluation item outside its split");
  }
  if (items_) {
    items_->granted(session, assign);
  } else {
    require(assign.grants.empty(), "an item is granted in a job of rounds");
  }
  auto& known = orders_[session];
  if (assign.order < known.order || (assign.generation != 0 && assign.generation < known.generation)) {
    throw Violation("orders to session " + std::to_string(session) + " go backwards");
  }
  if (assign.order == known.order && assign.order != 0 && assign.generation != 0 && known.generation != 0 &&
      !(assign == known.last)) {
    throw Violation("two orders to session " + std::to_string(session) + " have the number " +
                    std::to_string(assign.order));
  }
  known.order = assign.order;
  known.generation = std::max(known.generation, assign.generation);
  known.last = assign;
}

void Judge::confirmed(std::uint32_t shard, const Confirm& confirm) {
  presence_.confirmed(shard, ledger_.databases.at(shard).database);
  // Who goes on within a timeline begins at the newest complete snapshot, by what the lead knows to be durable.
  const auto& complete = ledger_.complete;
  const bool is_base = confirm.resumes ? std::find(complete.begin(), complete.end(), confirm.base) != complete.end() ||
                                             (!known_complete_.empty() && confirm.base == known_complete_.back())
                                       : confirm.base == history(confirm.timeline).base;
  require(!confirm.resumes || life_.journaled(), "a shard is told to go on without a journal");
  if (confirm.timeline != ledger_.timeline || !is_base || confirm.incarnation != ledger_.incarnations.at(shard)) {
    throw Violation("timeline " + std::to_string(confirm.timeline) + " is confirmed to life " +
                    std::to_string(confirm.incarnation) + " of shard " + std::to_string(shard) +
                    ", which the durable ledger does not say");
  }
}

void Judge::planned(const Plan& plan) {
  require(plan.timeline == ledger_.timeline, "a plan of a timeline that is not the durable ledger's");
  auto& known = histories_.at(plan.timeline);
  require(plan.first + plan.factors.size() <= life_.updates(life_.steps), "a plan beyond the job's end");
  if (items_) {
    items_->planned(plan);
  } else {
    check_plan_factors(plan);
  }
  // What is durable since the lead last heard of it may be more.
  require(plan.keep == ledger_.complete || plan.keep == known_complete_,
          "a plan lists other snapshots to be kept than the durable ledger");
  // Before the lead's life is in the ledger, it speaks of none: shards pass over that.
  require(plan.copies == ledger_.copies || plan.copies == known_copies_ || plan.copies == CopyState{},
          "a plan speaks of other copies than the durable ledger");
  require(plan.statistics_through >= known.base.step, "a plan knows nothing of the base's statistics");
  known.ordered.insert(plan.snapshots.begin(), plan.snapshots.end());
  pause_.planned(plan);
}

void Judge::check_plan_factors(const Plan& plan) const {
  for (std::size_t i = 0; i < plan.factors.size(); ++i) {
    if (!reference_->agrees(plan.first + i, plan.factors[i])) {
      throw Violation("a plan with other factors than step " + std::to_string(plan.first + i) +
                      "'s, or a skip that is not durable");
    }
  }
}

void Judge::said_finished(const Finish& finish) const {
  require(ledger_.finished == SnapshotId{finish.timeline, finish.step}, "the end is said before it is durable");
}

// ---- the ledger

void Judge::timeline_wanted() {
  if (items_) {
    items_->timeline_wanted();
  }
}

void Judge::ledger_durable(const StoredLedger& stored, Micros now) {
  const auto& ledger = stored.ledger;
  pause_.ledger_durable(ledger);
  provenance_.ledger_durable(ledger);
  for (std::uint32_t shard = 0; shard < ledger.databases.size(); ++shard) {
    const auto before = shard < ledger_.databases.size() ? ledger_.databases[shard].database : 0;
    presence_.listed(shard, before, ledger.databases[shard].database, now);
  }
  if (ledger.timeline == 0) {
    require(ledger.complete.empty() && ledger_.timeline == 0, "a ledger without a timeline");
    ledger_ = ledger;
    return;
  }
  check_skipped(ledger);
  if (!items_ && ledger.skipped != reference_->skipped()) {
    reference_ = std::make_shared<const Reference>(life_, ledger.skipped);
  }
  check_timeline(ledger);
  histories_.at(ledger.timeline).reference = reference_;
  check_complete(ledger);
  check_logs(stored);
  check_finished(ledger);
  copies_.ledger_durable(ledger_, ledger, now);
  note_facts(ledger);
  known_complete_ = ledger_.complete;
  known_copies_ = ledger_.copies;
  ledger_ = ledger;
}

void Judge::check_timeline(const Ledger& ledger) {
  require(ledger.timeline >= ledger_.timeline, "the ledger's timeline goes backwards");
  const auto known = histories_.find(ledger.timeline);
  if (known != histories_.end()) {
    require(known->second.base == ledger.base, "the base of a timeline is derived again");
    return take_new_lives(ledger, known->second);
  }
  require(ledger.incarnations.size() == life_.shards, "a timeline that does not list every shard");
  require(ledger_.complete.empty() || ledger.base >= ledger_.complete.back(),
          "a timeline begins before the newest complete snapshot");
  auto& history = histories_[ledger.timeline];
  history.base = ledger.base;
  history.incarnations = ledger.incarnations;
  history.placement = ledger.placement;
  history.reference = reference_;
  history.versions.assign(life_.chunks.size(), ledger.base.step);
  require(ledger.placement > ledger_.placement, "shards live elsewhere, and the placement is the old one");
  if (items_) {
    items_->timeline_begins(ledger.timeline, ledger.base);
  }
  check_held(ledger.base, ledger.timeline);
}

// In a journaled job a shard may go on in its timeline in another life.
void Judge::take_new_lives(const Ledger& ledger, History& known) {
  if (known.incarnations == ledger.incarnations) {
    return;
  }
  require(life_.journaled(), "the lives of a timeline's shards change");
  require(ledger.placement > known.placement, "a shard lives elsewhere, and the placement is the old one");
  for (std::uint32_t shard = 0; shard < life_.shards; ++shard) {
    if (ledger.incarnations[shard] < newest_lives_[shard]) {
      items_->cannot_resume();  // of a life that is over: what is claimed of the newest one is unknown to it
    }
  }
  known.incarnations = ledger.incarnations;
  known.placement = ledger.placement;
  facts_.note(Fact::resumed_within);
}

ChunkValue Judge::value(const History& known, Timeline timeline, Step step, ChunkId chunk) const {
  return items_ ? items_->value(timeline, chunk, life_.updates(step)) : known.reference->value(step, chunk);
}

void Judge::check_complete(const Ledger& ledger) const {
  require(!ledger.complete.empty() && std::is_sorted(ledger.complete.begin(), ledger.complete.end()),
          "the complete snapshots are none, or out of order");
  require(ledger.complete.back() >= ledger.base, "no complete snapshot from the base on");
  const auto extra = life_.copies ? 3U : 1U;  // the best, the one being copied, and the newest that is copied
  require(ledger.complete.size() <= std::max<std::size_t>(life_.snapshots_kept, 1) + extra,
          "too many snapshots are kept");
  for (const auto id : ledger.complete) {
    if (id > ledger.base && id.timeline != ledger.timeline) {
      throw Violation("the snapshot of step " + std::to_string(id.step) + " on timeline " +
                      std::to_string(id.timeline) + " is called complete on timeline " +
                      std::to_string(ledger.timeline));
    }
    check_held(id, ledger.timeline);
    if (items_ && id.timeline == ledger.timeline) {
      items_->completed(id);
    }
  }
  if (ledger.best) {
    require(std::find(ledger.complete.begin(), ledger.complete.end(), *ledger.best) != ledger.complete.end(),
            "the best snapshot is none of the complete ones");
  }
}

void Judge::check_held(SnapshotId id, Timeline timeline) const {
  const auto& known = history(timeline);
  for (ChunkId chunk = 0; chunk < life_.statistics(); ++chunk) {
    const auto& disk = disks_.present[shard(life_.chunks[chunk].lane)];
    if (id == SnapshotId{} && provenance_.is_unfit(disk.initial_weights)) {
      continue;  // of a later life, which is refused; the next one reads them anew
    }
    const auto* value = disk.durable(id, chunk);
    if (value == nullptr) {
      throw Violation("the snapshot of step " + std::to_string(id.step) + " on timeline " +
                      std::to_string(id.timeline) + " is called complete, but chunk " + std::to_string(chunk) +
                      " is not durable");
    }
    if (!(*value == this->value(known, timeline, id.step, chunk))) {
      throw Violation("chunk " + std::to_string(chunk) + " of the complete snapshot of step " +
                      std::to_string(id.step) + " on timeline " + std::to_string(id.timeline) +
                      " differs from the reference");
    }
  }
}

void Judge::check_skipped(const Ledger& ledger) const {
  for (std::size_t i = 0; i < ledger.skipped.size(); ++i) {
    const auto range = ledger.skipped[i];
    require(range.from < range.until && range.until <= life_.steps, "an empty range of steps is skipped");
    require(i == 0 || ledger.skipped[i - 1].until < range.from, "skipped ranges touch or are out of order");
    for (Step step = range.from; step < range.until; ++step) {
      // With rollback steps before the fault are left out as well.
      const bool may_be = is_faulty(step) || policy_ == NonFinite::rollback;
      require(may_be && is_faulty(range.until - 1), "a step is skipped though its gradient is finite");
    }
  }
}

void Judge::check_logs(const StoredLedger& stored) const {
  for (Step step = 0; step < stored.statistics.size(); ++step) {
    if (step >= life_.steps || stored.statistics[step].step != step ||
        !(items_ || stored.statistics[step] == reference_->statistics(step))) {
      throw Violation("the statistics of step " + std::to_string(step) +
                      " in the ledger are counted twice, missing, or differ from the reference");
    }
  }
  require(stored.statistics.size() >= stored.ledger.complete.back().step,
          "a snapshot is complete before the statistics up to it are durable");
  if (items_) {
    return items_->check_statistics(stored.ledger.timeline, stored.statistics);
  }
  const auto& reference = *reference_;
  const auto& expected = reference.evaluations();
  for (std::size_t i = 0; i < stored.evaluations.size(); ++i) {
    if (i >= expected.size() || !(stored.evaluations[i] == expected[i])) {
      throw Violation("evaluation " + std::to_string(i) + " in the ledger differs from the reference");
    }
  }
}

void Judge::check_finished(const Ledger& ledger) const {
  if (!ledger.finished) {
    require(!finish_recorded(), "the end is taken back");
    return;
  }
  require(!finish_recorded() || ledger_.finished == ledger.finished, "the end recorded twice");
  require(items_ || ledger.finished->step == reference_->end(), "the job ends at another step than the reference");
  require(std::find(ledger.complete.begin(), ledger.complete.end(), *ledger.finished) != ledger.complete.end(),
          "the end is no complete snapshot");
}

FactSet Judge::facts() const {
  auto facts = facts_;
  facts.add(copies_.facts());
  if (items_) {
    facts.add(items_->facts());
  }
  return facts;
}

void Judge::note_facts(const Ledger& ledger) {
  facts_.note(Fact::rollback, (ledger.timeline > ledger_.timeline && ledger.base.step > 0));
  facts_.note(Fact::snapshot_missed, ledger.snapshots_missed > 0);
  facts_.note(Fact::kept_best, ledger.best.has_value());
  facts_.note(Fact::early_stop, (ledger.finished && ledger.finished->step < life_.steps));
  if (ledger.skipped != ledger_.skipped) {
    facts_.note(ledger.timeline == ledger_.timeline ? Fact::skipped : Fact::gradient_rollback);
  }
}

// ---- the user

void Judge::commanded(Control::Command command, Lead::Phase phase) {
  pause_.commanded(command);
  stop_.commanded(command, phase, reached());
}

StopJudge::Reached Judge::reached() const {
  StopJudge::Reached reached{ledger_.timeline, 0};
  for (ChunkId chunk = 0; ledger_.timeline > 0 && chunk < life_.chunks.size(); ++chunk) {
    reached.version = std::max(reached.version, items_ ? items_->accepted(ledger_.timeline, chunk)
                                                       : history(ledger_.timeline).versions[chunk]);
  }
  return reached;
}

void Judge::stopped(Lead::Phase before, const Status& status, Micros now, bool copies_excused) const {
  stop_.stopped(before, status, ledger_, reached());
  if (life_.copies && !copies_excused && !stop_.is_patience_over() && before >= Lead::Phase::confirming) {
    copies_.stopped_well(ledger_, now);
  }
}

// ---- the end

void Judge::check_evaluations(const StoredLedger& stored, Timeline timeline) const {
  const auto end = ledger_.finished->step;
  const auto expected = evaluations(life_, [&](Step step) {
    require(step <= end, "the job ends before its last step, and patience has not ended it");
    return items_->weights(timeline, step);
  });
  require(expected.end == end, "the job ends at another step than its evaluations say");
  require(stored.evaluations == expected.records,
          "the evaluations in the ledger are not those of the weights that the job has come to");
}

void Judge::finished_well(const Status& status, const StoredLedger& stored, bool copies_excused) const {
  require(finish_recorded(), "the lead left without having recorded the end");
  const auto& end = *ledger_.finished;
  require(stored.statistics.size() == end.step, "the ledger does not end with the statistics of the last step");
  if (items_) {
    check_evaluations(stored, ledger_.timeline);
  } else {
    require(stored.evaluations.size() == reference_->evaluations().size(), "an evaluation is missing in the ledger");
  }
  check_held(end, ledger_.timeline);
  if (life_.copies && !copies_excused && !stop_.gave_up_copy()) {
    copies_.finished_well(ledger_);
  }
  require(status.phase == "finished" && status.failure.empty(), "the lead's status does not say finished");
  require(status.step == end.step, "the lead's status names another step");
  require(status.examples == examples(stored.statistics, end.step),
          "the lead's count of examples differs from the reference");
  require(status.train_loss == train_loss(life_, stored.statistics, end.step),
          "the lead's training loss differs from the reference");
  for (const auto& evaluation : stored.evaluations) {
    const auto& shown = evaluation.split == Split::test ? status.test : status.validation;
    require(shown.evaluated && shown.step >= evaluation.step, "the lead's status lacks an evaluation");
    require(shown.step != evaluation.step || (shown.loss == evaluation.loss && shown.accuracy == evaluation.accuracy),
            "the evaluation differs from the reference");
  }
  if (!counts_slots_) {
    return;
  }
  for (const auto& session : status.sessions) {
    const auto own = slots_by_session_.find(session.session);
    if (session.slots != (own == slots_by_session_.end() ? 0 : own->second)) {
      throw Violation("session " + std::to_string(session.session) + " is credited with " +
                      std::to_string(session.slots) + " slots");
    }
  }
}

void Judge::stopped_well(const StoredLedger& stored, bool out_of_patience) const {
  // A lead without patience may not have heard yet that the end is in its ledger: the next run says that it has
  // finished.
  require(!finish_recorded() || out_of_patience, "a job that has finished is said to be stopped");
  require(stored.ledger.timeline == 0 || !stored.ledger.complete.empty(), "a stopped job has no snapshot");
}

}  // namespace ballast::simulation
