#include "tests/simulation/judge/contributions.h"

#include <algorithm>
#include <bit>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

std::uint32_t ContributionsJudge::computes(const ItemHistories& histories, ItemId item, const Grant& grant,
                                           std::vector<ItemBase> bases) {
  if (item >= life_.updates(life_.steps) || grant.item != item) {
    throw Violation("item " + std::to_string(item) + " is computed, which was not granted");
  }
  for (ChunkId chunk = 0; chunk < bases.size(); ++chunk) {
    if (bases[chunk].clock != grant.clock) {
      throw Violation(histories.place(chunk, item) + ": computed from weights that were not asked for by its grant");
    }
  }
  origins_.push_back({item, std::move(bases)});
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

// ---- what is accepted

// It is what it is called, of this timeline, next in turn and there for the first time.
void ContributionsJudge::check_name(const ItemHistories& histories, const ItemUpdate& update) const {
  const auto& path = histories.of(update.lane.timeline);
  const auto& known = path.chunks[update.held.chunk];
  const auto item = item_of(update);
  const auto what = histories.place(update.held.chunk, item);
  const auto node = update.held.node;
  if (node.size() != 1 || update.held.payload.slots != std::uint64_t{1} << (4 * node.begin)) {
    throw Violation(what + ": a contribution of other slots");
  }
  if (update.held.payload.timeline != update.lane.timeline) {
    throw Violation(what + ": a contribution of another timeline is counted");
  }
  if (update.version != known.entries.size()) {
    throw Violation(what + ": becomes version " + std::to_string(update.version + 1) + ", after version " +
                    std::to_string(known.entries.size()));
  }
  if (known.has(item)) {
    throw Violation(what + ": counted twice");
  }
  if (const auto cut = histories.next_cut(path); item >= life_.updates(cut)) {
    throw Violation(what + ": counted before everything up to step " + std::to_string(cut) + " is there");
  }
}

std::uint64_t ContributionsJudge::staleness(const ItemHistories& histories, const ItemUpdate& update) const {
  const auto item = item_of(update);
  const auto what = histories.place(update.held.chunk, item);
  const auto& origin = origins_.at(update.held.payload.origin);
  require(update.held.payload.origin != 0 && origin.item == item, "a gradient bears another item's name");
  const auto base = origin.bases[update.held.chunk].version;
  if (base > update.version) {
    throw Violation(what + ": computed from version " + std::to_string(base) + ", which is still to come");
  }
  const auto staleness = update.version - base;
  if (life_.items->bound > 0 && staleness > life_.items->bound) {
    throw Violation(what + ": " + std::to_string(staleness) + " updates stale, above the bound of " +
                    std::to_string(life_.items->bound));
  }
  return staleness;
}

StepFactors ContributionsJudge::expected_factors(const ItemUpdate& update, std::uint64_t staleness) const {
  auto expected = factors(update.version / life_.slots, update.version);
  expected.skip = !is_finite(life_, update.held.chunk, update.held.step, update.held.payload);
  if (life_.items->damped) {
    const auto divisor = static_cast<float>(std::max<std::uint64_t>(staleness, 1));
    expected.learning_rate /= divisor;
    expected.step_size /= divisor;
  }
  return expected;
}

std::uint64_t ContributionsJudge::accepted(const ItemHistories& histories, const ItemUpdate& update) {
  check_name(histories, update);
  const auto staleness = this->staleness(histories, update);
  if (!(update.factors == expected_factors(update, staleness))) {
    throw Violation(histories.place(update.held.chunk, item_of(update)) + ": other factors than those of version " +
                    std::to_string(update.version));
  }
  require(!update.factors.skip || policy_ == NonFinite::skip, "an update is left out, in a job that halts");
  count(update.lane.process, staleness, update.factors.skip);
  return staleness;
}

std::uint64_t ContributionsJudge::appended(const ItemHistories& histories, const ItemUpdate& update,
                                           const lane::Append& action) {
  const auto staleness = accepted(histories, update);
  require(action.item == item_of(update) && action.version == update.version && action.chunk == update.held.chunk,
          "an update is appended under another name");
  require(action.staleness == staleness, "an update is appended with another staleness than its own");
  check_marks(histories, update, action.marks);
  note_marks(update.lane.process, action.marks);
  return staleness;
}

void ContributionsJudge::expired(const ItemHistories& histories, Timeline timeline, const Receipt& receipt,
                                 Version base) const {
  const auto& known = histories.of(timeline).chunks[receipt.chunk];
  const ItemId item = receipt.step * life_.slots + receipt.node.begin;
  const auto what = histories.place(receipt.chunk, item);
  if (known.has(item)) {
    throw Violation(what + ": refused for good, but the chunk has it");
  }
  const bool is_lost = life_.journaled() && base > known.applied;
  const auto bound = life_.items->bound;
  if (!is_lost && (bound == 0 || known.entries.size() - std::min<Version>(base, known.entries.size()) <= bound)) {
    throw Violation(what + ": refused as too stale, but the bound allows it");
  }
}

void ContributionsJudge::check_lineage(const ItemHistories& histories, SnapshotId id, const ItemHistories::Entry& entry,
                                       ChunkId chunk) const {
  const auto& origin = origins_.at(entry.payload.origin);
  for (ChunkId other = 0; other < origin.bases.size(); ++other) {
    const auto& base = origin.bases[other];
    if (base.version > life_.updates(id.step) ||
        histories.value(id.timeline, other, base.version).weights != base.weights) {
      throw Violation(histories.place(chunk, entry.item) + ": survives in the snapshot of step " +
                      std::to_string(id.step) + ", but was computed from version " + std::to_string(base.version) +
                      " of chunk " + std::to_string(other) + ", which was forgotten");
    }
  }
}

// ---- what lanes count

// What a contribution says that it rests on is no less than what it rests on.
void ContributionsJudge::check_marks(const ItemHistories& histories, const ItemUpdate& update,
                                     const std::vector<JournalMark>& marks) const {
  for (const auto& base : origins_.at(update.held.payload.origin).bases) {
    const bool is_named = std::any_of(marks.begin(), marks.end(), [&](const JournalMark& mark) {
      return mark.shard == base.mark.shard && mark.incarnation == base.mark.incarnation &&
             mark.sequence >= base.mark.sequence;
    });
    if (!is_named) {
      throw Violation(histories.place(update.held.chunk, item_of(update)) +
                      ": does not tell that it was computed from what shard " + std::to_string(base.mark.shard) +
                      " had committed up to " + std::to_string(base.mark.sequence));
    }
  }
}

void ContributionsJudge::note_marks(std::uint32_t process, const std::vector<JournalMark>& marks) {
  for (const auto& mark : marks) {
    auto& newest = lanes_[process].marks[{mark.shard, mark.incarnation}];
    newest = std::max(newest, mark.sequence);
  }
}

void ContributionsJudge::count(std::uint32_t process, std::uint64_t staleness, bool skipped) {
  auto& counts = lanes_[process].staleness;
  counts.skipped += skipped ? 1 : 0;
  const auto bucket = static_cast<std::size_t>(std::bit_width(staleness));
  counts.counts.resize(std::max(counts.counts.size(), bucket + 1));
  ++counts.counts[bucket];
  counts.sum += staleness;
  counts.largest = std::max(counts.largest, staleness);
  facts_.note(Fact::two_stale, staleness >= 2);
}

LaneCounts ContributionsJudge::counts(std::uint32_t process) const {
  const auto known = lanes_.find(process);
  return known == lanes_.end() ? LaneCounts{} : known->second;
}

}  // namespace ballast::simulation
