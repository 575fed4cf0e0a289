#include "tests/simulation/items_judge.h"

#include <algorithm>
#include <bit>

namespace ballast::simulation {

std::string ItemJudge::place(ChunkId chunk, ItemId item) const {
  return "chunk " + std::to_string(chunk) + ", item " + std::to_string(item) + " (step " +
         std::to_string(item / life_.slots) + ", slot " + std::to_string(item % life_.slots) + ")";
}

ItemJudge::History& ItemJudge::history(Timeline timeline) {
  const auto found = histories_.find(timeline);
  if (found == histories_.end()) {
    throw Violation("timeline " + std::to_string(timeline) + " is followed, which no durable ledger names");
  }
  return found->second;
}

const ItemJudge::History& ItemJudge::history(Timeline timeline) const {
  return const_cast<ItemJudge*>(this)->history(timeline);
}

// The next step after this one where all wait for each other.
Step ItemJudge::next_cut(Step step) const {
  const auto next = [&](Step every) { return every == 0 ? life_.steps : (step / every + 1) * every; };
  const bool evaluates = life_.validation_examples > 0 || life_.test_examples > 0;
  return std::min({life_.steps, next(life_.snapshot_every), evaluates ? next(life_.evaluate_every) : life_.steps});
}

// ---- timelines

void ItemJudge::timeline_wanted() {
  may_begin_again_ =
      may_begin_again_ || histories_.empty() || std::any_of(disks_.begin(), disks_.end(), [&](const Disk& disk) {
        return disk.timeline < histories_.rbegin()->first || disk.journal.timeline != disk.timeline;
      });
}

void ItemJudge::timeline_begins(Timeline timeline, SnapshotId base) {
  if (life_.journaled() && !histories_.empty()) {
    const auto& before = histories_.rbegin()->second;
    timeline_wanted();
    require(!before.lossy.empty() || may_begin_again_, "the job goes back though every shard could have gone on");
    facts_.note(Fact::broken_mark, !may_begin_again_);
  }
  may_begin_again_ = false;
  History begun;
  begun.base = base;
  begun.chunks.resize(life_.chunks.size());
  begun.furthest = base.step;
  begun.checked = base.step;
  if (base.step > 0) {
    const auto& older = history(base.timeline);
    const auto length = life_.updates(base.step);
    for (std::size_t chunk = 0; chunk < begun.chunks.size(); ++chunk) {
      const auto& known = older.chunks[chunk];
      require(known.applied >= length, "a timeline begins at a step that its base's timeline has never come to");
      begun.chunks[chunk].entries.assign(known.entries.begin(),
                                         known.entries.begin() + static_cast<std::ptrdiff_t>(length));
      begun.chunks[chunk].applied = length;
    }
    begun.statistics = older.statistics;
    begun.statistics.erase(begun.statistics.lower_bound(base.step), begun.statistics.end());
  }
  histories_[timeline] = std::move(begun);
}

void ItemJudge::lane_began(std::uint32_t process, std::uint32_t lane, Timeline timeline, Step base) {
  auto& known = history(timeline);
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    if (life_.chunks[chunk].lane == lane) {
      known.chunks[chunk].entries.resize(life_.updates(base));
      known.chunks[chunk].applied = life_.updates(base);
    }
  }
  lanes_[process].marks.clear();
}

// ---- what a crash leaves

void ItemJudge::lost(std::uint32_t shard) {
  const auto found = histories_.find(disks_[shard].journal.timeline);
  if (found != histories_.end()) {
    found->second.lossy.insert(shard);
  }
}

void ItemJudge::check_recovered(const History& path, const std::vector<JournalRecord>& records, ChunkId chunk,
                                Version base) const {
  const auto& known = path.chunks[chunk];
  Version version = base;
  for (const auto& record : records) {
    if (record.chunk != chunk) {
      continue;
    }
    const auto what = place(chunk, record.item);
    if (version >= known.entries.size()) {
      throw Violation(what + ": found again, though nothing was appended after version " + std::to_string(version));
    }
    const auto& entry = known.entries[version];
    if (record.version != version || record.item != entry.item || record.payload.value != entry.payload.value ||
        !(record.factors == entry.factors)) {
      throw Violation(what + ": what is found again is not what was appended as version " + std::to_string(version));
    }
    ++version;
  }
  if (path.lossy.contains(shard_of(chunk))) {
    return;
  }
  if (version < known.applied) {
    throw Violation("chunk " + std::to_string(chunk) + " comes back at version " + std::to_string(version) +
                    ", but version " + std::to_string(known.applied) + " was served, and the disk has lost nothing");
  }
  for (Version lost = version; lost < known.entries.size(); ++lost) {
    require(!known.entries[lost].receipted, "an item that has its receipt is forgotten, and the disk has lost nothing");
  }
}

void ItemJudge::recovered(std::uint32_t process, std::uint32_t lane, Timeline timeline, Step base,
                          const Journal& journal, const std::vector<JournalRecord>& records) {
  auto& known = history(timeline);
  require(life_.updates(base) >= journal.released, "a recovery begins before what the journal has let go of");
  lanes_[process].marks.clear();
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    if (life_.chunks[chunk].lane != lane) {
      continue;
    }
    auto& own = known.chunks[chunk];
    if (own.entries.size() < life_.updates(base)) {
      throw Violation("chunk " + std::to_string(chunk) + " goes on from the snapshot of step " + std::to_string(base) +
                      ", which it has never come to");
    }
    check_recovered(known, records, chunk, life_.updates(base));
    const auto count = static_cast<std::size_t>(
        std::count_if(records.begin(), records.end(), [&](const auto& record) { return record.chunk == chunk; }));
    const auto recovered = life_.updates(base) + count;
    own.entries.resize(recovered);
    own.applied = std::min(own.applied, recovered);
    while (own.applied < recovered) {
      own.entries[own.applied].after = after(timeline, chunk, own.applied);
      ++own.applied;
    }
    facts_.note(Fact::replayed, count > 0);
    if (chunk == life_.statistics()) {
      for (Step step = base; step < life_.steps; ++step) {
        sum_statistics(known, step);
      }
    }
  }
  for (const auto& record : records) {
    note_marks(process, record.marks);
  }
  advance(known);
}

// ---- contributions

bool ItemJudge::is_committed(std::uint32_t shard, Timeline timeline, std::uint64_t sequence) const {
  const auto& journal = disks_[shard].journal;
  if (journal.timeline != timeline) {
    return sequence != ~std::uint64_t{0};  // another lane has begun a newer timeline: it says nothing of this one's
  }
  return sequence <= (life_.items->journal == LifeItems::Journal::always ? journal.synced : journal.written);
}

StepFactors ItemJudge::expected_factors(const ItemUpdate& update, std::uint64_t staleness) const {
  auto expected = factors(update.version / life_.slots, update.version);
  expected.skip = !measure(life_, update.chunk, update.step, update.payload).finite;
  if (life_.items->damped) {
    const auto divisor = static_cast<float>(std::max<std::uint64_t>(staleness, 1));
    expected.learning_rate /= divisor;
    expected.step_size /= divisor;
  }
  return expected;
}

// Returns how stale it is.
std::uint64_t ItemJudge::check_contribution(const ItemUpdate& update, const ChunkHistory& known) const {
  const auto item = update.step * life_.slots + update.node.begin;
  const auto what = place(update.chunk, item);
  const auto& path = history(update.timeline);
  if (update.node.size() != 1 || update.payload.slots != std::uint64_t{1} << (4 * update.node.begin)) {
    throw Violation(what + ": a contribution of other slots");
  }
  if (update.payload.timeline != update.timeline) {
    throw Violation(what + ": a contribution of another timeline is counted");
  }
  if (update.version != known.entries.size()) {
    throw Violation(what + ": becomes version " + std::to_string(update.version + 1) + ", after version " +
                    std::to_string(known.entries.size()));
  }
  if (std::any_of(known.entries.begin(), known.entries.end(), [&](const Entry& entry) { return entry.item == item; })) {
    throw Violation(what + ": counted twice");
  }
  if (item >= life_.updates(next_cut(path.furthest))) {
    throw Violation(what + ": counted before everything up to step " + std::to_string(next_cut(path.furthest)) +
                    " is there");
  }
  const auto& origin = origins_.at(update.payload.origin);
  require(update.payload.origin != 0 && origin.item == item, "a gradient bears another item's name");
  const auto base = origin.bases[update.chunk].version;
  if (base > update.version) {
    throw Violation(what + ": computed from version " + std::to_string(base) + ", which is still to come");
  }
  const auto staleness = update.version - base;
  if (life_.items->bound > 0 && staleness > life_.items->bound) {
    throw Violation(what + ": " + std::to_string(staleness) + " updates stale, above the bound of " +
                    std::to_string(life_.items->bound));
  }
  if (!(update.factors == expected_factors(update, staleness))) {
    throw Violation(what + ": other factors than those of version " + std::to_string(update.version));
  }
  require(!update.factors.skip || policy_ == NonFinite::skip, "an update is left out, in a job that halts");
  return staleness;
}

void ItemJudge::count_staleness(std::uint32_t process, std::uint64_t staleness, bool skipped) {
  auto& counts = lanes_[process].staleness;
  counts.skipped += skipped ? 1 : 0;
  const auto bucket = static_cast<std::size_t>(std::bit_width(staleness));
  counts.counts.resize(std::max(counts.counts.size(), bucket + 1));
  ++counts.counts[bucket];
  counts.sum += staleness;
  counts.largest = std::max(counts.largest, staleness);
  facts_.note(Fact::two_stale, staleness >= 2);
}

void ItemJudge::note_marks(std::uint32_t process, const std::vector<JournalMark>& marks) {
  for (const auto& mark : marks) {
    auto& newest = lanes_[process].marks[{mark.shard, mark.incarnation}];
    newest = std::max(newest, mark.sequence);
  }
}

// What a contribution says that it rests on is no less than what it rests on.
void ItemJudge::check_marks(const ItemUpdate& update, const std::vector<JournalMark>& marks) {
  for (const auto& base : origins_.at(update.payload.origin).bases) {
    const bool is_named = std::any_of(marks.begin(), marks.end(), [&](const JournalMark& mark) {
      return mark.shard == base.mark.shard && mark.incarnation == base.mark.incarnation &&
             mark.sequence >= base.mark.sequence;
    });
    if (!is_named) {
      throw Violation(place(update.chunk, update.step * life_.slots + update.node.begin) +
                      ": does not tell that it was computed from what shard " + std::to_string(base.mark.shard) +
                      " had committed up to " + std::to_string(base.mark.sequence));
    }
  }
}

void ItemJudge::appended(const ItemUpdate& update, const lane::Append& action, std::uint64_t sequence) {
  auto& known = history(update.timeline).chunks[update.chunk];
  const auto staleness = check_contribution(update, known);
  require(action.item == update.step * life_.slots + update.node.begin && action.version == update.version &&
              action.chunk == update.chunk,
          "an update is appended under another name");
  require(action.staleness == staleness, "an update is appended with another staleness than its own");
  check_marks(update, action.marks);
  note_marks(update.process, action.marks);
  count_staleness(update.process, staleness, update.factors.skip);
  known.entries.push_back({action.item, update.payload, update.factors, action.session, sequence, false, {}});
}

void ItemJudge::applied(const ItemUpdate& update, const ChunkValue& result) {
  auto& path = history(update.timeline);
  auto& known = path.chunks[update.chunk];
  const auto item = update.step * life_.slots + update.node.begin;
  const auto what = place(update.chunk, item);
  if (!life_.journaled()) {
    count_staleness(update.process, check_contribution(update, known), update.factors.skip);
    known.entries.push_back({item, update.payload, update.factors, update.session, 0, false, {}});
  }
  if (update.version != known.applied || known.applied == known.entries.size()) {
    throw Violation(what + ": applied as version " + std::to_string(update.version) + ", the chunk is at " +
                    std::to_string(known.applied) + " of " + std::to_string(known.entries.size()) +
                    " that were accepted");
  }
  auto& entry = known.entries[known.applied];
  if (entry.item != item || entry.payload.value != update.payload.value || !(entry.factors == update.factors)) {
    throw Violation(what + ": applied otherwise than it was appended");
  }
  if (life_.journaled() && !is_committed(shard_of(update.chunk), update.timeline, entry.sequence)) {
    throw Violation(what + ": applied before it is committed");
  }
  if (!entry.factors.skip && !measure(life_, update.chunk, update.step, update.payload).finite) {
    throw Violation(what + ": a gradient that is not finite is applied");
  }
  facts_.note(Fact::item_skipped, entry.factors.skip);
  if (!(result == after(update.timeline, update.chunk, known.applied))) {
    throw Violation(what + ": the new weights do not follow from those before");
  }
  entry.after = result;
  ++known.applied;
  if (update.chunk == life_.statistics()) {
    sum_statistics(path, update.step);
  }
  advance(path);
}

// What the update of that version makes of it.
ChunkValue ItemJudge::after(Timeline timeline, ChunkId chunk, Version version) const {
  const auto& entry = history(timeline).chunks[chunk].entries[version];
  return chunk == life_.statistics() ? statistics_value(version + 1)
                                     : apply(value(timeline, chunk, version), entry.payload, entry.factors);
}

ChunkValue ItemJudge::value(Timeline timeline, ChunkId chunk, Version version) const {
  if (chunk == life_.statistics()) {
    return statistics_value(version);
  }
  if (version == 0) {
    return initial(life_, chunk);
  }
  const auto& known = history(timeline).chunks[chunk];
  if (version > known.applied) {
    throw Violation("version " + std::to_string(version) + " of chunk " + std::to_string(chunk) +
                    " is not there, or was forgotten");
  }
  return known.entries[version - 1].after;
}

Version ItemJudge::version(Timeline timeline, ChunkId chunk) const { return history(timeline).chunks[chunk].applied; }

Version ItemJudge::accepted(Timeline timeline, ChunkId chunk) const {
  return history(timeline).chunks[chunk].entries.size();
}

bool ItemJudge::is_pending(Timeline timeline, ChunkId chunk, ItemId item) const {
  const auto& known = history(timeline).chunks[chunk];
  return std::any_of(known.entries.begin() + static_cast<std::ptrdiff_t>(known.applied), known.entries.end(),
                     [&](const Entry& entry) { return entry.item == item; });
}

// ---- statistics

StepStatistics ItemJudge::part(const Entry& entry) const {
  const Step step = entry.item / life_.slots;
  return entry.factors.skip ? StepStatistics{step, 0, 0, 0} : statistics(step, entry.payload.value);
}

void ItemJudge::sum_statistics(History& known, Step step) const {
  const auto& own = known.chunks[life_.statistics()];
  StepStatistics sum{step, 0, 0, 0};
  Slot items = 0;
  for (std::size_t i = 0; i < own.applied; ++i) {
    if (own.entries[i].item / life_.slots == step) {
      const auto item = part(own.entries[i]);
      sum.loss += item.loss;
      sum.correct += item.correct;
      sum.examples += item.examples;
      ++items;
    }
  }
  if (items == life_.slots) {
    known.statistics[step].push_back(sum);
  }
}

void ItemJudge::check_statistics(Timeline timeline, const std::vector<StepStatistics>& statistics) const {
  const auto& known = history(timeline).statistics;
  for (const auto& step : statistics) {
    const auto sums = known.find(step.step);
    if (sums == known.end() || std::find(sums->second.begin(), sums->second.end(), step) == sums->second.end()) {
      throw Violation("the statistics of step " + std::to_string(step.step) +
                      " are not the sum over its items, or some are still to come");
    }
  }
}

// ---- what lanes say

void ItemJudge::receipt_sent(SessionId session, Timeline timeline, const Receipt& receipt) {
  auto& known = history(timeline).chunks[receipt.chunk];
  const auto item = receipt.step * life_.slots + receipt.node.begin;
  const auto end = known.entries.begin() + static_cast<std::ptrdiff_t>(known.applied);
  const auto entry = std::find_if(known.entries.begin(), end, [&](const Entry& each) { return each.item == item; });
  if (entry == end) {
    throw Violation("a receipt for " + place(receipt.chunk, item) +
                    (life_.journaled() ? ", which is not committed and applied" : ", which is not applied"));
  }
  if (receipt.outcome == ReceiptOutcome::accepted) {
    require(!entry->receipted && entry->session == session, "an item is called accepted twice, or to another session");
  }
  entry->receipted = true;
}

void ItemJudge::expired(Timeline timeline, const Receipt& receipt, Version base) const {
  const auto& known = history(timeline).chunks[receipt.chunk];
  const auto bound = life_.items->bound;
  if (bound == 0 || known.entries.size() - std::min<Version>(base, known.entries.size()) <= bound) {
    throw Violation(place(receipt.chunk, receipt.step * life_.slots + receipt.node.begin) +
                    ": refused as too stale, but the bound allows it");
  }
}

void ItemJudge::weights_sent(Timeline timeline, const Weights& header, Expression value) const {
  const auto& known = history(timeline).chunks[header.chunk];
  const auto what =
      "weights of chunk " + std::to_string(header.chunk) + " at version " + std::to_string(header.version);
  if (header.version != known.applied) {
    throw Violation(what + " are sent as the newest ones, but it is at version " + std::to_string(known.applied));
  }
  if (value != this->value(timeline, header.chunk, header.version).weights) {
    throw Violation(what + " are not what its updates make");
  }
  if (!life_.journaled()) {
    return;
  }
  const auto sequence = known.applied == 0 ? 0 : known.entries[known.applied - 1].sequence;
  const bool is_old = life_.updates(history(timeline).checked) >= known.applied;  // in a complete snapshot
  if (!is_old && (header.sequence < sequence || !is_committed(shard_of(header.chunk), timeline, header.sequence))) {
    throw Violation(what + " name journal sequence " + std::to_string(header.sequence) + ", but rest on " +
                    std::to_string(sequence) + ", or it is not committed");
  }
}

std::vector<bool> ItemJudge::covered(const History& known, std::uint32_t lane) const {
  std::vector<std::uint32_t> counts(life_.steps * life_.slots);
  std::uint32_t chunks = 0;
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    if (life_.chunks[chunk].lane == lane) {
      ++chunks;
      for (std::size_t i = 0; i < known.chunks[chunk].applied; ++i) {
        ++counts[known.chunks[chunk].entries[i].item];
      }
    }
  }
  std::vector<bool> covered(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    covered[i] = counts[i] == chunks;
  }
  return covered;
}

ItemId ItemJudge::reached(const History& known, std::uint32_t lane) const {
  ItemId reached = 0;
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    if (life_.chunks[chunk].lane == lane) {
      for (const auto& entry : known.chunks[chunk].entries) {
        reached = std::max(reached, entry.item + 1);
      }
    }
  }
  return reached;
}

void ItemJudge::reported(std::uint32_t process, std::uint32_t lane, const LaneReport& report) const {
  if (!report.serving) {
    return;
  }
  const auto& known = history(report.timeline);
  const auto what = "lane " + std::to_string(lane) + " reports ";
  const auto truth = covered(known, lane);
  std::vector<bool> said(truth.size());
  for (const auto& range : report.covered) {
    require(range.begin < range.end && range.end <= said.size(), "a lane covers items that cannot be");
    std::fill(said.begin() + static_cast<std::ptrdiff_t>(range.begin),
              said.begin() + static_cast<std::ptrdiff_t>(range.end), true);
  }
  if (said != truth) {
    throw Violation(what + "other items as covered than are");
  }
  if (report.reached != reached(known, lane)) {
    throw Violation(what + "to have reached item " + std::to_string(report.reached) + ", but it is item " +
                    std::to_string(reached(known, lane)));
  }
  const auto floor = static_cast<ItemId>(std::find(truth.begin(), truth.end(), false) - truth.begin());
  if (report.open_step != floor / life_.slots) {
    throw Violation(what + "step " + std::to_string(report.open_step) + " as open, but it is step " +
                    std::to_string(floor / life_.slots));
  }
  const auto counts = lanes_.find(process);
  auto staleness = report.staleness;
  staleness.expired = 0;
  if (!(staleness == (counts == lanes_.end() ? StalenessCounts{} : counts->second.staleness))) {
    throw Violation(what + "another staleness than was");
  }
  for (const auto& [life, sequence] : counts == lanes_.end() ? decltype(LaneCounts::marks){} : counts->second.marks) {
    const auto is_of_it = [&life = life, &sequence = sequence](const JournalMark& mark) {
      return mark.shard == life.first && mark.incarnation == life.second && mark.sequence >= sequence;
    };
    if (std::ranges::none_of(report.marks, is_of_it)) {
      throw Violation(what + "nothing of what its updates rest on of shard " + std::to_string(life.first));
    }
  }
  check_statistics(report.timeline, report.statistics);
}

void ItemJudge::snapshot_taken(Timeline timeline, Step step, ChunkId chunk, const ChunkValue& found) const {
  const auto& known = history(timeline).chunks[chunk];
  const auto what = "the snapshot of step " + std::to_string(step) + ": chunk " + std::to_string(chunk);
  if (known.applied != life_.updates(step) || known.entries.size() != known.applied) {
    throw Violation(what + " is taken at another version");
  }
  for (const auto& entry : known.entries) {
    if (entry.item >= life_.updates(step)) {
      throw Violation(what + " is taken with item " + std::to_string(entry.item) + ", so it is no cut");
    }
  }
  require(found == value(timeline, chunk, life_.updates(step)), "a chunk is taken into a snapshot with other weights");
}

// ---- workers

std::uint32_t ItemJudge::computes(Timeline timeline, ItemId item, const Grant& grant, std::vector<ItemBase> bases) {
  if (item >= life_.updates(life_.steps) || grant.item != item) {
    throw Violation("item " + std::to_string(item) + " is computed, which was not granted");
  }
  for (ChunkId chunk = 0; chunk < bases.size(); ++chunk) {
    if (bases[chunk].ticket != grant.clock) {
      throw Violation(place(chunk, item) + ": computed from weights that were not asked for by its grant");
    }
  }
  origins_.push_back({timeline, item, std::move(bases)});
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

// ---- the lead

void ItemJudge::granted(SessionId session, const Assign& assign) {
  for (const auto& grant : assign.grants) {
    if (const auto known = grants_.find(grant.clock); known != grants_.end()) {
      require(known->second == std::pair(session, grant.item), "two grants have the same clock");
      continue;
    }
    const auto limit = life_.updates(next_cut(history(assign.timeline).furthest));
    if (grant.item >= limit) {
      throw Violation("item " + std::to_string(grant.item) + " is granted, before everything below item " +
                      std::to_string(limit) + " is there");
    }
    grants_[grant.clock] = {session, grant.item};
    granted_until_ = std::max(granted_until_, grant.item + 1);
  }
  if (life_.items->bound > 0 && assign.grants.empty() && assign.timeline != 0 && !assign.evaluation) {
    const auto& known = history(assign.timeline);
    facts_.note(Fact::grant_delayed,
                granted_until_ < std::min<ItemId>(life_.updates(next_cut(known.furthest)), known.planned));
  }
}

void ItemJudge::planned(const Plan& plan) {
  auto& known = history(plan.timeline);
  require(plan.first + plan.factors.size() <= life_.updates(next_cut(known.furthest)),
          "a plan beyond the next step where all wait");
  for (std::size_t i = 0; i < plan.factors.size(); ++i) {
    const auto version = plan.first + i;
    require(plan.factors[i] == factors(version / life_.slots, version), "a plan with other factors than a version's");
  }
  known.planned = std::max(known.planned, plan.first + plan.factors.size());
}

// ---- what is durable

void ItemJudge::advance(History& known) const {
  std::size_t least = life_.updates(life_.steps);
  for (const auto& chunk : known.chunks) {
    least = std::min(least, chunk.applied);
  }
  while (life_.updates(known.furthest + 1) <= least) {
    for (const auto& chunk : known.chunks) {
      const auto items =
          std::count_if(chunk.entries.begin(), chunk.entries.begin() + static_cast<std::ptrdiff_t>(chunk.applied),
                        [&](const Entry& entry) { return entry.item < life_.updates(known.furthest + 1); });
      if (static_cast<ItemId>(items) < life_.updates(known.furthest + 1)) {
        return;
      }
    }
    ++known.furthest;
  }
}

Expression ItemJudge::weights(Timeline timeline, Step step) const {
  std::vector<Expression> values;
  for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
    values.push_back(value(timeline, chunk, life_.updates(step)).weights);
  }
  return all_weights(values);
}

void ItemJudge::check_lineage(Timeline timeline, const Entry& entry, ChunkId chunk, Step step) const {
  const auto& origin = origins_.at(entry.payload.origin);
  for (ChunkId other = 0; other < origin.bases.size(); ++other) {
    const auto& base = origin.bases[other];
    if (base.version > life_.updates(step) || value(timeline, other, base.version).weights != base.weights) {
      throw Violation(place(chunk, entry.item) + ": survives in the snapshot of step " + std::to_string(step) +
                      ", but was computed from version " + std::to_string(base.version) + " of chunk " +
                      std::to_string(other) + ", which was forgotten");
    }
  }
}

void ItemJudge::completed(SnapshotId id) {
  auto& known = history(id.timeline);
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    const auto& own = known.chunks[chunk];
    std::set<ItemId> items;
    for (Version version = 0; version < std::min<Version>(own.applied, life_.updates(id.step)); ++version) {
      items.insert(own.entries[version].item);
    }
    if (items.size() != life_.updates(id.step) || (!items.empty() && *items.rbegin() >= life_.updates(id.step))) {
      throw Violation("chunk " + std::to_string(chunk) + " of the snapshot of step " + std::to_string(id.step) +
                      " does not hold every item of the steps before once");
    }
    for (Version version = life_.updates(known.checked); version < life_.updates(id.step); ++version) {
      check_lineage(id.timeline, own.entries[version], chunk, id.step);
    }
  }
  known.checked = std::max(known.checked, id.step);
}

}  // namespace ballast::simulation
