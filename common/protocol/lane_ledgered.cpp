// The lane where each item is an update of its own: covered sets, staleness, and what waits for the journal.
#include <algorithm>
#include <bit>
#include <utility>

#include "common/protocol/journal_marks.h"
#include "common/protocol/lane.h"

namespace ballast {

using namespace lane;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

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

// ---- what comes in

bool Lane::check_item(const FromWorker& event, const Push& push, const ChunkState& chunk) {
  const auto place = "chunk " + std::to_string(push.chunk) + ", step " + std::to_string(push.step);
  if (push.node.size() != 1 || push.step >= config_.steps) {
    refuse(event.session, RefusalCode::out_of_range,
           place + ": in this job each slot of a step below " + std::to_string(config_.steps) +
               " is an update of its own");
    return false;
  }
  const ItemId item = updates(push.step) + push.node.begin;
  if (push.base > chunk.version) {
    if (config_.ledgered->journaled) {
      // Of a life of this shard that knew more. The marks tell the lead.
      note_marks(push.marks);
      refuse(event.session, RefusalCode::not_serving, place + ": computed from a version that was lost");
    } else {
      refuse(event.session, RefusalCode::out_of_range,
             place + ": the chunk is at version " + std::to_string(chunk.version) +
                 ", so nothing can have been computed from version " + std::to_string(push.base));
    }
    return false;
  }
  // Not yet: the plan that allows the item, or has the factors of the version it would become, is still on its way.
  if (std::max<Version>(item, chunk.accepted) >= plan_.end() && !chunk.items.contains(item)) {
    refuse(event.session, RefusalCode::not_serving,
           place + ": the lane's plan ends at item " + std::to_string(plan_.end()));
    return false;
  }
  return true;
}

void Lane::on_item(const FromWorker& event, const Push& push, ChunkState& chunk) {
  const ItemId item = updates(push.step) + push.node.begin;
  note_marks(push.marks);
  if (chunk.items.contains(item)) {
    ++counters_.duplicates;
    emit(Drop{event.payload});
    return answer({event.session, push}, ReceiptOutcome::duplicate);
  }
  const auto same = std::find_if(pending_.begin(), pending_.end(), [&](const Update& update) {
    return update.item == item && update.chunk == push.chunk;
  });
  if (same != pending_.end()) {
    // Its receipt waits for the journal, like the first one's.
    ++counters_.duplicates;
    emit(Drop{event.payload});
    const bool waits_already = std::any_of(same->senders.begin(), same->senders.end(),
                                           [&](const auto& sender) { return sender.first == event.session; });
    if (!waits_already) {
      same->senders.emplace_back(event.session, push);
    }
    return;
  }
  const auto bound = config_.ledgered->staleness_bound;
  if (bound > 0 && chunk.accepted - push.base > bound) {
    ++counters_.staleness.expired;
    emit(Drop{event.payload});
    return answer({event.session, push}, ReceiptOutcome::expired);
  }
  looked_at_ = Update{0, push.chunk, item, chunk.accepted, {}, event.payload, {{event.session, push}}};
  emit(Measure{push.chunk, push.step, event.payload});
}

void Lane::on_item_measured(const ChunkMeasure& measure) {
  if (!looked_at_ || looked_at_->chunk != measure.chunk) {
    return;
  }
  auto update = *std::exchange(looked_at_, std::nullopt);
  const auto& push = update.senders.front().second;
  update.factors = *plan_.find(update.version);
  if (!measure.finite && !config_.ledgered->skips_non_finite) {
    // The lead ends the job.
    auto& chunk = *find(update.chunk);
    chunk.measure = measure;
    chunk.measure->slot = push.fault;
    emit(Drop{update.payload});
    return report();
  }
  update.factors.skip = update.factors.skip || !measure.finite;
  const auto staleness = update.version - push.base;
  if (config_.ledgered->damped) {
    damp(update.factors, staleness);
  }
  count(counters_.staleness, staleness);
  counters_.staleness.skipped += update.factors.skip ? 1 : 0;
  accept(std::move(update));
}

void Lane::accept(Update update) {
  auto& chunk = *find(update.chunk);
  give_up_orders(chunk, update.item);
  ++chunk.accepted;
  chunk.reached = std::max(chunk.reached, update.item + 1);
  ++counters_.accepted;
  ++held_payloads_;
  update.ticket = next_ticket_++;
  if (config_.ledgered->journaled) {
    const auto& [session, push] = update.senders.front();
    emit(Append{update.ticket, update.chunk, update.item, update.version, update.version - push.base, session,
                update.factors, push.marks, update.payload});
  }
  pending_.push_back(std::move(update));
  if (!config_.ledgered->journaled) {
    commit(pending_.back().ticket);
  }
}

// Granted by a lead that knew nothing of the order: with the item the chunk will never be whole at that step. The lead
// sees it by how far the lane has reached.
void Lane::give_up_orders(const ChunkState& chunk, ItemId item) {
  snapshots_.give_up(chunk.items.floor() / config_.slots, item / config_.slots);
}

// ---- what is committed

void Lane::on(const Committed& event) {
  if (event.ticket < first_ticket_) {
    return;  // of a timeline that is over: its sequences say nothing of this one's
  }
  journal_sequence_ = std::max(journal_sequence_, event.sequence);
  commit(event.ticket);
}

void Lane::commit(std::uint64_t ticket) {
  committed_ticket_ = std::max(committed_ticket_, ticket);
  apply_committed();
}

// As far as one event may go: the journal commits in groups.
void Lane::apply_committed() {
  for (std::uint64_t bytes = 0;
       !pending_.empty() && pending_.front().ticket <= committed_ticket_ && bytes < config_.event_bytes;) {
    auto update = std::move(pending_.front());
    pending_.pop_front();
    bytes += find(update.chunk)->spec.bytes;
    apply_item(update);
  }
}

void Lane::apply_item(Update& update) {
  auto& chunk = *find(update.chunk);
  const Step step = update.item / config_.slots;
  --held_payloads_;
  emit(Apply{update.chunk, chunk.spec.statistics && !update.factors.skip, step, update.version, update.payload,
             update.factors});
  if (chunk.spec.statistics) {
    if (update.factors.skip) {
      statistics_.add({step, 0, 0, 0});
    }
    sessions_.contributed(update.senders.front().first);
  }
  ++chunk.version;
  changed_ = true;
  cover(chunk, update.item);
  for (const auto& sender : update.senders) {
    answer(sender, &sender == &update.senders.front() ? ReceiptOutcome::accepted : ReceiptOutcome::duplicate);
  }
  take_snapshot(chunk);
  answer_waiting(chunk);
  advance_items();
}

void Lane::answer(const std::pair<SessionId, Push>& sender, ReceiptOutcome outcome) {
  const auto& [session, push] = sender;
  if (!sessions_.contains(session)) {
    return;
  }
  emit(SendToWorker{session, Receipt{timeline_, push.step, push.chunk, push.node, outcome}});
  if (push.want_next) {
    send(sessions_.want(session, served(*find(push.chunk)), kNewestVersion, push.ticket));
  }
}

void Lane::cover(ChunkState& chunk, ItemId item) {
  chunk.items.insert(item);
  auto& chunks = partly_covered_[item];
  if (++chunks == chunks_.size()) {
    partly_covered_.erase(item);
    items_.insert(item);
  }
}

void Lane::advance_items() {
  const Step open = items_.floor() / config_.slots;
  if (open == open_step_) {
    return;
  }
  open_step_ = open;
  // Every chunk has all items below the floor, and so is at that version at least.
  plan_.passed(items_.floor());
  report_if_at_barrier();
}

// ---- where a life of the lane begins

void Lane::begin_items(Step base) {
  for (auto& chunk : chunks_) {
    chunk.version = updates(base);
    chunk.accepted = chunk.version;
    chunk.reached = chunk.version;
    chunk.items = CoveredItems(chunk.version);
  }
  // A lane without chunks holds nobody up.
  items_ = CoveredItems(updates(chunks_.empty() ? config_.steps : base));
  partly_covered_.clear();
  journal_sequence_ = 0;
}

void Lane::on(const Resumed& event) {
  if (!resuming_ || event.timeline != timeline_) {
    return;
  }
  resuming_ = false;
  serving_ = true;
  begin_items(event.from);
  statistics_.begin(event.from);
  journal_sequence_ = event.sequence;
  note_marks(event.marks);
  for (const auto& update : event.updates) {
    auto& chunk = *find(update.chunk);
    ++chunk.version;
    ++chunk.accepted;
    chunk.reached = std::max(chunk.reached, update.item + 1);
    cover(chunk, update.item);
    if (chunk.spec.statistics) {
      auto part = update.statistics;
      part.step = update.item / config_.slots;
      statistics_.add(part);
    }
  }
  open_step_ = items_.floor() / config_.slots;
  plan_.begin(items_.floor());
  report();
}

// ---- steps, as snapshots count them

std::optional<Step> Lane::at_step(const ChunkState& chunk) const {
  if (!is_ledgered()) {
    return chunk.version;
  }
  const bool is_whole =
      chunk.version % config_.slots == 0 && chunk.accepted == chunk.version && chunk.items.floor() == chunk.version;
  return is_whole ? std::optional<Step>(chunk.version / config_.slots) : std::nullopt;
}

bool Lane::is_past(const ChunkState& chunk, Step step) const {
  return is_ledgered() ? chunk.reached > updates(step) : chunk.version > step;
}

void Lane::note_marks(const std::vector<JournalMark>& marks) {
  if (!config_.ledgered->journaled) {
    return;
  }
  for (const auto& mark : marks) {
    note_mark(marks_, mark, std::size_t{config_.shards} * kMaxShardLives);
  }
}

}  // namespace ballast
