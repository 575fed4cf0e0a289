#include "tests/simulation/judge/items.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tests/simulation/judge/item_reports.h"
#include "tests/simulation/judge/replies.h"
#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

// ---- timelines

void ItemsJudge::lane_starts(const Disk& disk, Timeline newest) {
  if (disk.timeline < newest || disk.journal.timeline != disk.timeline) {
    rollbacks_.cannot_resume();
  }
}

void ItemsJudge::timeline_begins(const Disks& disks, Timeline timeline, SnapshotId base) {
  rollbacks_.timeline_begins(histories_, disks);
  histories_.begin(timeline, base);
}

void ItemsJudge::lane_began(const LaneLife& lane, Step base) {
  for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
    if (life_.chunks[chunk].lane == lane.lane) {
      histories_.rewind(lane.timeline, chunk, base);
    }
  }
  contributions_.lane_begins(lane.process);
}

void ItemsJudge::lost(std::uint32_t shard, const Disk& disk) {
  if (histories_.contains(disk.journal.timeline)) {
    histories_.of(disk.journal.timeline).lossy.insert(shard);
  }
}

void ItemsJudge::recovered(const LaneLife& lane, Step base, const Journal& journal,
                           const std::vector<JournalRecord>& records) {
  check_recovered(life_, histories_, lane, base, journal, records);
  contributions_.lane_begins(lane.process);
  for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
    if (life_.chunks[chunk].lane != lane.lane) {
      continue;
    }
    const auto count = static_cast<Version>(
        std::count_if(records.begin(), records.end(), [&](const auto& record) { return record.chunk == chunk; }));
    histories_.recover(lane.timeline, chunk, life_.updates(base) + count);
    facts_.note(Fact::replayed, count > 0);
    if (chunk == life_.statistics()) {
      histories_.sum_from(lane.timeline, base);
    }
  }
  for (const auto& record : records) {
    contributions_.note_marks(lane.process, record.marks);
  }
  histories_.advance(lane.timeline);
}

// ---- updates

void ItemsJudge::accept(const ItemUpdate& update, std::uint64_t sequence, std::uint64_t staleness) {
  const auto& held = update.held;
  histories_.of(update.lane.timeline)
      .chunks[held.chunk]
      .entries.push_back({item_of(held), held.payload, update.factors, held.session, sequence, false, {}, staleness});
}

void ItemsJudge::appended(const ItemUpdate& update, const lane::Append& action, std::uint64_t sequence) {
  const auto staleness = contributions_.appended(histories_, update, action);
  accept(update, sequence, staleness);
}

void ItemsJudge::applied(const Disks& disks, const ItemUpdate& update, const ChunkValue& result) {
  const auto& held = update.held;
  const auto timeline = update.lane.timeline;
  const auto what = histories_.place(held.chunk, item_of(held));
  if (!life_.journaled()) {
    const auto staleness = contributions_.accepted(histories_, update);
    accept(update, 0, staleness);
  }
  const auto& known = histories_.of(timeline).chunks[held.chunk];
  if (update.version != known.applied || known.applied == known.entries.size()) {
    throw Violation(what + ": applied as version " + std::to_string(update.version) + ", the chunk is at " +
                    std::to_string(known.applied) + " of " + std::to_string(known.entries.size()) +
                    " that were accepted");
  }
  const auto& entry = known.entries[known.applied];
  if (entry.item != item_of(held) || entry.payload.value != held.payload.value || !(entry.factors == update.factors)) {
    throw Violation(what + ": applied otherwise than it was appended");
  }
  if (life_.journaled() && !is_committed(life_, disk_of(disks, held.chunk), timeline, entry.sequence)) {
    throw Violation(what + ": applied before it is committed");
  }
  if (!entry.factors.skip && !is_finite(life_, held.chunk, held.step, held.payload)) {
    throw Violation(what + ": a gradient that is not finite is applied");
  }
  note_state(held, entry.staleness);
  facts_.note(Fact::item_skipped, entry.factors.skip);
  if (!(result == histories_.after(timeline, held.chunk, known.applied))) {
    throw Violation(what + ": the new weights do not follow from those before");
  }
  histories_.apply_next(timeline, held.chunk);
}

void ItemsJudge::note_state(const HeldPayload& held, std::uint64_t staleness) {
  const auto rule = life_.chunks[held.chunk].rule;
  const bool has_examples = life_.has_examples(held.step, held.node.begin);
  facts_.note(Fact::stale_change, rule == LifeRule::change && has_examples && staleness >= 2);
  facts_.note(Fact::stale_statistic, rule == LifeRule::statistic && has_examples && staleness >= 1);
  facts_.note(Fact::empty_item, rule != LifeRule::descent && !has_examples);
}

// ---- what lanes send, keep and say

void ItemsJudge::receipt_sent(SessionId session, Timeline timeline, const Receipt& receipt,
                              const HeldPayloads& /*held*/) {
  auto& known = histories_.of(timeline).chunks[receipt.chunk];
  const auto item = receipt.step * life_.slots + receipt.node.begin;
  const auto end = known.entries.begin() + static_cast<std::ptrdiff_t>(known.applied);
  const auto entry = std::find_if(known.entries.begin(), end, [&](const auto& each) { return each.item == item; });
  if (entry == end) {
    throw Violation("a receipt for " + histories_.place(receipt.chunk, item) +
                    (life_.journaled() ? ", which is not committed and applied" : ", which is not applied"));
  }
  if (receipt.outcome == ReceiptOutcome::accepted) {
    require(!entry->receipted && entry->session == session, "an item is called accepted twice, or to another session");
  }
  entry->receipted = true;
}

void ItemsJudge::weights_sent(const Disks& disks, Timeline timeline, const Weights& header, Expression value) const {
  const auto& path = histories_.of(timeline);
  const auto& known = path.chunks[header.chunk];
  const auto what = words_of(header);
  require(!header.averages, "averages are sent in item mode");
  if (header.version != known.applied) {
    throw Violation(what + " are sent as the newest ones, but it is at version " + std::to_string(known.applied));
  }
  if (value != histories_.value(timeline, header.chunk, header.version).weights) {
    throw Violation(what + " are not what its updates make");
  }
  if (!life_.journaled()) {
    return;
  }
  const auto sequence = known.applied == 0 ? 0 : known.entries[known.applied - 1].sequence;
  const bool is_old = life_.updates(path.checked) >= known.applied;  // in a complete snapshot
  const bool is_sound =
      header.sequence >= sequence && is_committed(life_, disk_of(disks, header.chunk), timeline, header.sequence);
  if (!is_old && !is_sound) {
    throw Violation(what + " name journal sequence " + std::to_string(header.sequence) + ", but rest on " +
                    std::to_string(sequence) + ", or it is not committed");
  }
}

void ItemsJudge::settled(Timeline timeline, const HeldPayloads& held) const {
  std::set<std::pair<ChunkId, ItemId>> kept;
  for (const auto& [id, entry] : held) {
    require(is_pending(timeline, entry.chunk, item_of(entry)), "a payload is kept that waits for no commit");
    require(kept.emplace(entry.chunk, item_of(entry)).second, "one item's payload is kept twice");
  }
}

void ItemsJudge::snapshot_taken(SnapshotId id, ChunkId chunk, const ChunkValue& value) const {
  cuts_.taken(id);
  if (chunk != life_.statistics()) {
    check_taken(life_, histories_, id, chunk, value);
  }
}

void ItemsJudge::reported(const LaneLife& lane, const LaneReport& report) const {
  cuts_.reported(lane, report);
  if (report.timeline == lane.timeline && report.serving) {
    check_report(life_, histories_.of(report.timeline), contributions_.counts(lane.process), lane, report);
  }
  for (const auto& measure : report.measures) {
    require(!measure.finite, "a measure is reported that stops nobody");
  }
}

// Where a disk lies, a worker may have weights that are forgotten; what the ledger says of them is looked at in the
// end.
void ItemsJudge::evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const {
  if (life_.faults.lying_disk && !histories_.of(timeline).lossy.empty()) {
    return;
  }
  if (evaluation.version > life_.steps || weights != histories_.weights(timeline, evaluation.version)) {
    throw Violation("version " + std::to_string(evaluation.version) + " is evaluated from other weights");
  }
}

// ---- what is durable

void ItemsJudge::completed(SnapshotId id) {
  auto& known = histories_.of(id.timeline);
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    const auto& own = known.chunks[chunk];
    check_items(life_, own, id, chunk);
    for (Version version = life_.updates(known.checked); version < life_.updates(id.step); ++version) {
      contributions_.check_lineage(histories_, id, own.entries[version], chunk);
    }
  }
  known.checked = std::max(known.checked, id.step);
}

void ItemsJudge::check_logs(const StoredLedger& stored) const {
  check_statistics(histories_.of(stored.ledger.timeline), stored.statistics);
}

void ItemsJudge::check_evaluations(const StoredLedger& stored) const {
  const auto end = stored.ledger.finished->step;
  const auto expected = evaluations(life_, [&](Step step) {
    require(step <= end, "the job ends before its last step, and patience has not ended it");
    return histories_.weights(stored.ledger.timeline, step);
  });
  require(expected.end == end, "the job ends at another step than its evaluations say");
  require(stored.evaluations == expected.records,
          "the evaluations in the ledger are not those of the weights that the job has come to");
}

FactSet ItemsJudge::facts() const {
  auto facts = facts_;
  facts.add(contributions_.facts());
  facts.add(grants_.facts());
  facts.add(rollbacks_.facts());
  return facts;
}

}  // namespace ballast::simulation
