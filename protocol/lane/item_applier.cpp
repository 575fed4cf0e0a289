#include "protocol/lane/item_applier.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <utility>

#include "protocol/journal_marks.h"

namespace ballast {

namespace {

void count(StalenessCounts& staleness, std::uint64_t updates) {
  const auto bucket = static_cast<std::size_t>(std::bit_width(updates));
  if (staleness.counts.size() <= bucket) {
    staleness.counts.resize(bucket + 1);
  }
  ++staleness.counts[bucket];
  staleness.sum += updates;
  staleness.largest = std::max(staleness.largest, updates);
}

// Staleness-aware learning rate: Zhang, Gupta, Lian, Liu, "Staleness-aware Async-SGD for Distributed Deep Learning",
// IJCAI 2016, equation 6.
void damp(StepFactors& factors, std::uint64_t staleness) {
  const auto divisor = static_cast<float>(std::max<std::uint64_t>(staleness, 1));
  factors.learning_rate /= divisor;
  factors.step_size /= divisor;
}

}  // namespace

ItemApplier::ItemApplier(const LaneConfig& config)
    : rules_(config.items.value()),
      shards_(config.shards),
      slots_(config.slots),
      steps_(config.steps),
      event_bytes_(config.event_bytes),
      chunks_(config.chunks, [](const LaneChunk& chunk) { return Chunk{chunk, 0, 0, 0, {}, {}, false}; }),
      items_(0, chunks_.size()),
      lives_(config.lives),
      readers_({config.kept_bytes, config.kept_patience, config.kept_pause}) {}

// ---- what comes in

std::optional<Refused> ItemApplier::check(const Push& push, const Chunk& chunk) const {
  if (push.node.size() != 1 || push.step >= steps_) {
    return Refused{RefusalCode::out_of_range, place_of(push) + ": in this job each slot of a step below " +
                                                  std::to_string(steps_) + " is an update of its own"};
  }
  if (std::ranges::any_of(push.items.marks, [&](const auto& mark) { return mark.shard >= shards_; })) {
    return Refused{RefusalCode::out_of_range,
                   place_of(push) + ": rests on a shard that is not one of the job's " + std::to_string(shards_)};
  }
  // A shard may have lost versions, but none that the job never comes to.
  if (push.items.computed_from > (rules_.journaled ? version_at(steps_) : chunk.version)) {
    return Refused{RefusalCode::out_of_range,
                   place_of(push) + ": the chunk is at version " + std::to_string(chunk.version) +
                       ", so nothing can have been computed from version " + std::to_string(push.items.computed_from)};
  }
  return std::nullopt;
}

// Weights that are served are committed: those that it was computed from were of a life of this shard that had more
// than the journal gave back. That is not "ask again": a worker that waited would hold the item for ever, and with an
// update from such weights the job would have to go back.
bool ItemApplier::is_lost(const Push& push, const Chunk& chunk) { return push.items.computed_from > chunk.version; }

// Not yet: the plan that allows the item, or has the factors of the version it would become, is still on its way.
bool ItemApplier::is_beyond(ItemId item, const Chunk& chunk, const FactorPlan& plan) const {
  return std::max<Version>(item, chunk.accepted) >= plan.end();
}

Want ItemApplier::want(const Work& work, const FactorPlan& plan) const {
  const auto& chunk = *chunks_.find(work.chunk);
  if (work.node.size() != 1 || work.step >= steps_) {
    return Want::not_yet;  // never: such a contribution is refused
  }
  if (chunk.items.contains(item_of(work))) {
    return Want::covered;
  }
  return holds(work) || is_beyond(item_of(work), chunk, plan) ? Want::not_yet : Want::wanted;
}

Offered ItemApplier::offer(SessionId session, const Push& push, PayloadId payload, const FactorPlan& plan) {
  auto& chunk = *chunks_.find(push.chunk);
  Offered offered;
  offered.refused = check(push, chunk);
  if (offered.refused) {
    return offered;
  }
  if (chunk.items.contains(item_of(push))) {
    ++counters_.duplicates;
    offered.actions.emplace_back(lane::Drop{payload});
    offered.receipt = ReceiptOutcome::duplicate;
  } else if (auto* same = find_unapplied(push)) {
    // Its receipt waits for what becomes of the first one.
    ++counters_.duplicates;
    offered.actions.emplace_back(lane::Drop{payload});
    const bool waits_already = std::any_of(same->senders.begin(), same->senders.end(),
                                           [&](const auto& sender) { return sender.session == session; });
    if (!waits_already) {
      same->senders.push_back({session, push});
    }
  } else if (is_lost(push, chunk)) {
    ++counters_.staleness.expired;
    offered.actions.emplace_back(lane::Drop{payload});
    offered.receipt = ReceiptOutcome::expired;
  } else if (is_beyond(item_of(push), chunk, plan)) {
    offered.actions.emplace_back(lane::Drop{payload});
    offered.receipt = ReceiptOutcome::not_yet;
  } else {
    held_bytes_ += chunk.spec.bytes;
    measuring_.emplace(std::pair(push.chunk, item_of(push)),
                       ItemUpdate{0, push.chunk, item_of(push), 0, {}, payload, {{session, push}}});
    offered.measure = {push.chunk, push.step, payload};
  }
  return offered;
}

const ItemUpdate* ItemApplier::find_unapplied(const Work& work) const {
  const auto found = measuring_.find({work.chunk, item_of(work)});
  return found != measuring_.end() ? &found->second : pending_.find(work.chunk, item_of(work));
}

ItemUpdate* ItemApplier::find_unapplied(const Push& push) {
  return const_cast<ItemUpdate*>(std::as_const(*this).find_unapplied(Work{push.step, push.chunk, push.node}));
}

void ItemApplier::drop(const ItemUpdate& update, lane::Actions& actions) {
  held_bytes_ -= chunks_.find(update.chunk)->spec.bytes;
  actions.emplace_back(lane::Drop{update.payload});
}

// It is too stale, or its marks find no room. There is room for each life that the shards' lists can name, so then this
// mark or one that is there is of a life that its shard has lost, and the lead takes the job back.
bool ItemApplier::has_expired(const Push& push, const Chunk& chunk) const {
  const bool is_too_stale =
      rules_.staleness_bound > 0 && chunk.accepted - push.items.computed_from > rules_.staleness_bound;
  return is_too_stale || !has_room(push.items.marks);
}

// Others may have been accepted since it came, so that only now its version is known.
ApplierOutcome ItemApplier::measured(const lane::Measured& event, const FactorPlan& plan) {
  ApplierOutcome outcome;
  const auto found = std::find_if(measuring_.lower_bound({event.measure.chunk, 0}), measuring_.end(),
                                  [&](const auto& each) { return each.second.payload == event.root; });
  if (found == measuring_.end()) {
    return outcome;
  }
  auto& chunk = *chunks_.find(found->second.chunk);
  const auto& measure = event.measure;
  const bool is_beyond = std::max<Version>(found->second.item, chunk.accepted) >= plan.end();
  const bool is_expired = !is_beyond && has_expired(found->second.senders.front().push, chunk);
  const bool halts = !measure.finite && !rules_.skips_non_finite;
  if (!rules_.journaled && !is_beyond && !is_expired && !halts && !readers_.may_update(chunk.spec.id)) {
    held_up_[chunk.spec.id].push_back(event);
    return outcome;
  }
  auto update = std::move(measuring_.extract(found).mapped());
  const auto& push = update.senders.front().push;
  if (is_beyond) {
    // A plan that came meanwhile ends before it.
    drop(update, outcome.actions);
    for (const auto& sender : update.senders) {
      outcome.answers.push_back({sender.session, sender.push, ReceiptOutcome::not_yet});
    }
    return outcome;
  }
  update.version = chunk.accepted;
  if (is_expired) {
    ++counters_.staleness.expired;
    drop(update, outcome.actions);
    // Whose own was computed from newer weights sends it again.
    for (const auto& sender : update.senders) {
      const auto what = has_expired(sender.push, chunk) ? ReceiptOutcome::expired : ReceiptOutcome::not_yet;
      outcome.answers.push_back({sender.session, sender.push, what});
    }
    return outcome;
  }
  update.factors = *plan.find(update.version);
  if (halts) {
    // The lead ends the job.
    chunk.measure = measure;
    chunk.measure->slot = push.fault;
    drop(update, outcome.actions);
    outcome.report = true;
    return outcome;
  }
  update.factors.skip = update.factors.skip || !measure.finite;
  const auto staleness = update.version - push.items.computed_from;
  if (rules_.damped) {
    damp(update.factors, staleness);
  }
  count(counters_.staleness, staleness);
  counters_.staleness.skipped += update.factors.skip ? 1 : 0;
  accept(chunk, std::move(update), outcome);
  return outcome;
}

// What cannot be applied is said once more.
ApplierOutcome ItemApplier::planned(const FactorPlan& plan) {
  ApplierOutcome outcome;
  sync_if_whole(plan, outcome);
  for (auto& chunk : chunks_) {
    if (chunk.measure && !std::exchange(chunk.waits, true)) {
      ++counters_.waited_for_factors;
      outcome.report = true;
    }
  }
  return outcome;
}

void ItemApplier::accept(Chunk& chunk, ItemUpdate update, ApplierOutcome& outcome) {
  ++chunk.accepted;
  chunk.reached = std::max(chunk.reached, update.item + 1);
  ++counters_.accepted;
  const auto& pending = pending_.add(std::move(update));
  if (rules_.journaled) {
    const auto& [session, push] = pending.senders.front();
    note_marks(push.items.marks);
    outcome.actions.emplace_back(lane::Append{pending.ticket, pending.chunk, pending.item, pending.version,
                                              pending.version - push.items.computed_from, session, pending.factors,
                                              push.items.marks, pending.payload});
  } else {
    pending_.committed(pending.ticket, 0);
    apply_committed(outcome);
  }
}

// ---- what is committed

ApplierOutcome ItemApplier::committed(std::uint64_t ticket, std::uint64_t sequence, const FactorPlan& plan) {
  pending_.committed(ticket, sequence);
  return go_on(plan);
}

ApplierOutcome ItemApplier::go_on(const FactorPlan& plan) {
  ApplierOutcome outcome;
  apply_committed(outcome);
  accept_held_up(plan, outcome);
  sync_if_whole(plan, outcome);
  return outcome;
}

// First what has waited for longest; what does not wait is behind it.
std::vector<ChunkId> ItemApplier::held_up_by_age() const {
  auto chunks = readers_.waiting_by_age();
  for (const auto& [chunk, events] : held_up_) {
    if (!readers_.waiting().contains(chunk)) {
      chunks.push_back(chunk);
    }
  }
  return chunks;
}

// Each chunk once, as apply_committed() has it; what is given up is none.
void ItemApplier::accept_held_up(const FactorPlan& plan, ApplierOutcome& outcome) {
  if (held_up_.empty()) {
    readers_.tried();  // by apply_committed()
    return;
  }
  std::uint64_t bytes = 0;
  const auto chunks = held_up_by_age();
  for (auto at = chunks.begin(); at != chunks.end() && bytes < event_bytes_; ++at) {
    auto events = std::move(held_up_.extract(*at).mapped());
    bool is_done = false;
    while (!events.empty() && !is_done) {
      auto more = measured(events.front(), plan);
      events.pop_front();
      is_done = held_up_.contains(*at) || !more.applied.empty();
      bytes += more.applied.empty() ? 0 : more.applied.front().served.bytes;
      std::ranges::move(more.actions, std::back_inserter(outcome.actions));
      std::ranges::move(more.answers, std::back_inserter(outcome.answers));
      std::ranges::move(more.applied, std::back_inserter(outcome.applied));
      outcome.report = outcome.report || more.report;
    }
    if (!is_done) {
      readers_.waits_no_longer(*at);
    } else if (!events.empty()) {
      std::ranges::move(events, std::back_inserter(held_up_[*at]));
    }
  }
  if (bytes < event_bytes_) {
    readers_.tried();
  }
}

// Once for each place where all stop: in the timeline nobody asks for more than the lead records there.
void ItemApplier::sync_if_whole(const FactorPlan& plan, ApplierOutcome& outcome) {
  if (rules_.journaled && covered_items() >= plan.until() && sync_asked_ < plan.until()) {
    sync_asked_ = plan.until();
    outcome.whole = sync_asked_;
  }
}

bool ItemApplier::has_more() const {
  const auto& waiting = readers_.waiting();
  const bool waits = pending_.has_committed() && waiting.contains(pending_.first().chunk);
  // Chunks whose items are held up wait, but for those of which one was applied meanwhile.
  return (pending_.has_committed() && !waits) || waiting.size() < held_up_.size() || readers_.may_go_on();
}

// As far as one event may go: the journal commits in groups. In order, so one whose chunk's weights are still read
// holds up those behind it. Each chunk once: who is answered with a version is one of its readers before the next one.
void ItemApplier::apply_committed(ApplierOutcome& outcome) {
  std::set<ChunkId> updated;
  for (std::uint64_t bytes = 0; pending_.has_committed() && bytes < event_bytes_;) {
    const auto chunk = pending_.first().chunk;
    if (updated.contains(chunk) || !readers_.updates(chunk)) {
      return;
    }
    updated.insert(chunk);
    outcome.applied.push_back(apply(pending_.take()));
    bytes += outcome.applied.back().served.bytes;
  }
}

AppliedUpdate ItemApplier::apply(const ItemUpdate& update) {
  auto& chunk = *chunks_.find(update.chunk);
  held_bytes_ -= chunk.spec.bytes;
  AppliedUpdate applied;
  applied.of_statistics = chunk.spec.statistics;
  applied.apply = {0,
                   update.chunk,
                   chunk.spec.statistics && !update.factors.skip,
                   update.item / slots_,
                   update.version,
                   update.payload,
                   update.factors,
                   update.version - update.senders.front().push.items.computed_from,
                   static_cast<Slot>(update.item % slots_)};
  if (chunk.spec.statistics) {
    applied.contributors = {update.senders.front().session};
  }
  for (const auto& sender : update.senders) {
    const bool is_first = &sender == &update.senders.front();
    applied.answers.push_back(
        {sender.session, sender.push, is_first ? ReceiptOutcome::accepted : ReceiptOutcome::duplicate});
  }
  const auto open_before = open_step();
  ++chunk.version;
  chunk.items.insert(update.item);
  items_.cover(update.item);
  applied.served = *served(update.chunk);
  applied.node = {applied.apply.slot, applied.apply.slot + 1};
  applied.at_step = step_of(chunk);
  if (open_step() != open_before) {
    // Every chunk has all items below the floor, and so is at that version at least.
    applied.opened = {open_step(), covered_items()};
  }
  return applied;
}

// ---- timelines

std::vector<PayloadId> ItemApplier::forget() {
  for (auto& chunk : chunks_) {
    chunk.measure.reset();
    chunk.waits = false;
  }
  marks_.clear();
  lives_.clear();
  auto payloads = pending_.forget();
  for (const auto& [place, update] : std::exchange(measuring_, {})) {
    payloads.push_back(update.payload);
  }
  held_bytes_ = 0;
  held_up_.clear();
  readers_.begin();
  return payloads;
}

void ItemApplier::begin(Step base, Incarnation incarnation) {
  lives_ = {{incarnation, 0}};
  put_base_in_place(base);
}

void ItemApplier::put_base_in_place(Step base) {
  const auto floor = version_at(base);
  for (auto& chunk : chunks_) {
    chunk.version = floor;
    chunk.accepted = floor;
    chunk.reached = floor;
    chunk.items = CoveredItems(floor);
  }
  sync_asked_ = 0;
  synced_ = 0;
  // A lane without chunks holds nobody up.
  items_ = SharedItems(chunks_.empty() ? version_at(steps_) : floor, chunks_.size());
  pending_.begin(0);
}

ResumedItems ItemApplier::resume(const lane::Resumed& event) {
  put_base_in_place(event.from);
  pending_.begin(event.sequence);
  note_marks(event.marks);
  ResumedItems resumed;
  for (const auto& update : event.updates) {
    auto& chunk = *chunks_.find(update.chunk);
    ++chunk.version;
    ++chunk.accepted;
    chunk.reached = std::max(chunk.reached, update.item + 1);
    chunk.items.insert(update.item);
    items_.cover(update.item);
    if (chunk.spec.statistics) {
      auto part = update.statistics;
      part.step = update.item / slots_;
      resumed.statistics.push_back(part);
    }
  }
  resumed.planned_from = covered_items();
  return resumed;
}

// ---- how far it is

std::optional<ServedChunk> ItemApplier::served(ChunkId id) const {
  const auto* chunk = chunks_.find(id);
  return chunk == nullptr ? std::nullopt
                          : std::optional(ServedChunk{id, chunk->spec.bytes, chunk->version, chunk->version});
}

bool ItemApplier::will_be(Version version) const { return version == kNewestVersion || version <= version_at(steps_); }

// If all of its items of the steps before are applied, and no other.
std::optional<Step> ItemApplier::step_of(const Chunk& chunk) const {
  const bool is_whole =
      chunk.version % slots_ == 0 && chunk.accepted == chunk.version && chunk.items.floor() == chunk.version;
  return is_whole ? std::optional<Step>(chunk.version / slots_) : std::nullopt;
}

bool ItemApplier::is_past(Step step) const {
  return std::any_of(chunks_.begin(), chunks_.end(),
                     [&](const Chunk& chunk) { return chunk.reached > version_at(step); });
}

std::vector<LaneChunk> ItemApplier::chunks_at(Step step) const {
  std::vector<LaneChunk> found;
  for (const auto& chunk : chunks_) {
    if (step_of(chunk) == step) {
      found.push_back(chunk.spec);
    }
  }
  return found;
}

void ItemApplier::tell(LaneReport& report) const {
  report.items.covered = items_.by_all().ranges(kMaxCoveredRanges);
  for (const auto& chunk : chunks_) {
    report.items.reached = std::max(report.items.reached, chunk.reached);
    if (chunk.measure) {  // what the lead does with it is the lead's to know
      report.measures.push_back(*chunk.measure);
    }
  }
  report.items.staleness = counters_.staleness;
  report.items.marks = marks_;
  report.items.synced = synced_;
}

void ItemApplier::note_marks(const std::vector<JournalMark>& marks) {
  if (!rules_.journaled) {
    return;
  }
  for (const auto& mark : marks) {
    note_mark(marks_, mark);
  }
}

// What a journal gives back has room: it was accepted within it.
bool ItemApplier::has_room(const std::vector<JournalMark>& marks) const {
  const auto room = std::size_t{shards_} * kMaxShardLives;
  if (!rules_.journaled || marks_.size() + marks.size() <= room) {
    return true;
  }
  auto all = marks_;
  for (const auto& mark : marks) {
    note_mark(all, mark);
  }
  return all.size() <= room;
}

}  // namespace ballast
