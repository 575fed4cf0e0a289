// Item mode: each item is an update of its own, as it comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/covered_items.h"
#include "protocol/ids.h"
#include "protocol/lane/applied_update.h"
#include "protocol/lane/chunk_table.h"
#include "protocol/lane/factor_plan.h"
#include "protocol/lane/lane_budget.h"
#include "protocol/lane/lane_config.h"
#include "protocol/lane/lane_events.h"
#include "protocol/lane/pending_items.h"
#include "protocol/lane/weights_readers.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Refuses what is too stale, and applies the rest in the order in which it was accepted: at once, or when it is
// committed to the shard's journal. Invariants:
//   1. no chunk applies an item twice, nor one whose weights are older than the bound or were lost, nor one beyond the
//      plan;
//   2. in a journaled job what is served, and what is called accepted or duplicate, is committed;
//   3. every mark of what is accepted is told.
// Pure and copyable. Not thread-safe.
class ItemApplier {
 public:
  // config.items is there.
  explicit ItemApplier(const LaneConfig& config);

  // ---- contributions: see RoundApplier
  Offered offer(SessionId session, const Push& push, PayloadId payload, const FactorPlan& plan);
  ApplierOutcome measured(const lane::Measured& event, const FactorPlan& plan);
  ApplierOutcome planned(const FactorPlan& plan);
  // The journal has all updates up to that ticket.
  ApplierOutcome committed(std::uint64_t ticket, std::uint64_t sequence, const FactorPlan& plan);
  // And it is synced with all items before that one.
  void synced(ItemId before) { synced_ = std::max(synced_, before); }
  ApplierOutcome go_on(const FactorPlan& plan);
  [[nodiscard]] bool has_more() const;

  // ---- what is called: see RoundApplier
  [[nodiscard]] static bool is_of_items() { return true; }
  [[nodiscard]] Slot slots() const { return slots_; }
  [[nodiscard]] static std::uint64_t reserve(const LaneConfig& config) {
    return reserve_of(config.slots, config.chunks, false, true);
  }
  [[nodiscard]] static std::uint64_t statistics_room(const LaneConfig& /*config*/) { return 0; }
  [[nodiscard]] Want want(const Work& work, const FactorPlan& plan) const;
  [[nodiscard]] static bool joins(const Work& /*work*/) { return false; }
  [[nodiscard]] bool holds(const Work& work) const { return find_unapplied(work) != nullptr; }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }
  // Nothing is held for the oldest item but itself, which whoever called it knows.
  [[nodiscard]] static Spine spine() { return {}; }
  [[nodiscard]] static std::optional<OldestWanted> oldest_wanted() { return std::nullopt; }

  // ---- timelines
  std::vector<PayloadId> forget();
  void begin(Step base, Incarnation incarnation);
  ResumedItems resume(const lane::Resumed& event);
  // Of this shard in the timeline it serves, or would resume.
  [[nodiscard]] std::vector<ShardLife> lives() const { return lives_; }
  [[nodiscard]] bool is_journaled() const { return rules_.journaled; }

  // ---- who reads its weights
  [[nodiscard]] WeightsReaders& readers() { return readers_; }
  [[nodiscard]] const WeightsReaders& readers() const { return readers_; }

  // ---- how far it is
  [[nodiscard]] std::optional<ServedChunk> served(ChunkId id) const;
  [[nodiscard]] WantedVersion wanted(const Push& push) const { return {kNewestVersion, push.items.clock}; }
  [[nodiscard]] Version version_at(Step step) const { return step * slots_; }
  [[nodiscard]] bool will_be(Version version) const;
  [[nodiscard]] Step open_step() const { return covered_items() / slots_; }
  [[nodiscard]] bool is_past(Step step) const;
  [[nodiscard]] std::vector<LaneChunk> chunks_at(Step step) const;
  // Nothing is granted before the lead knows that it will be taken.
  [[nodiscard]] bool stands_at(Version known) const { return known == covered_items(); }
  [[nodiscard]] Slot parts_of_step() const { return slots_; }
  // From the first on without a gap, by every chunk.
  [[nodiscard]] ItemId covered_items() const { return items_.by_all().floor(); }
  [[nodiscard]] std::uint64_t journal_sequence() const { return pending_.sequence(); }
  [[nodiscard]] std::size_t held_payloads() const { return measuring_.size() + pending_.size(); }
  [[nodiscard]] const ApplierCounters& counters() const { return counters_; }
  void tell(LaneReport& report) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(rules_, shards_, slots_, steps_, event_bytes_), listed::parts(chunks_, items_),
                       listed::plain(lives_), listed::parts(measuring_, pending_),
                       listed::plain(marks_, sync_asked_, synced_), listed::fixed(held_bytes_), listed::parts(readers_),
                       listed::plain(held_up_), listed::accounts(counters_));
  }

 private:
  struct Chunk {
    LaneChunk spec;
    Version version = 0;
    Version accepted = 0;                 // the version after all updates that are pending
    ItemId reached = 0;                   // the first item beyond all that are accepted
    CoveredItems items;                   // applied
    std::optional<ChunkMeasure> measure;  // of an item that cannot be applied
    bool waits = false;                   // for the lead, which ends the job

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(spec, version, accepted, reached), listed::parts(items),
                         listed::plain(measure, waits));
    }
  };

  [[nodiscard]] std::optional<Refused> check(const Push& push, const Chunk& chunk) const;
  [[nodiscard]] static bool is_lost(const Push& push, const Chunk& chunk);
  [[nodiscard]] bool is_beyond(ItemId item, const Chunk& chunk, const FactorPlan& plan) const;
  [[nodiscard]] bool has_expired(const Push& push, const Chunk& chunk) const;
  [[nodiscard]] const ItemUpdate* find_unapplied(const Work& work) const;
  ItemUpdate* find_unapplied(const Push& push);
  void accept(Chunk& chunk, ItemUpdate update, ApplierOutcome& outcome);
  void apply_committed(ApplierOutcome& outcome);
  [[nodiscard]] std::vector<ChunkId> held_up_by_age() const;
  void accept_held_up(const FactorPlan& plan, ApplierOutcome& outcome);
  void sync_if_whole(const FactorPlan& plan, ApplierOutcome& outcome);
  AppliedUpdate apply(const ItemUpdate& update);
  void put_base_in_place(Step base);
  [[nodiscard]] bool has_room(const std::vector<JournalMark>& marks) const;
  void note_marks(const std::vector<JournalMark>& marks);
  [[nodiscard]] ItemId item_of(const Push& push) const { return version_at(push.step) + push.node.begin; }
  [[nodiscard]] ItemId item_of(const Work& work) const { return version_at(work.step) + work.node.begin; }
  void drop(const ItemUpdate& update, lane::Actions& actions);
  [[nodiscard]] std::optional<Step> step_of(const Chunk& chunk) const;

  ItemRules rules_;
  std::uint32_t shards_;
  Slot slots_;
  Step steps_;
  std::uint64_t event_bytes_;
  ChunkTable<Chunk> chunks_;
  SharedItems items_;
  std::vector<ShardLife> lives_;
  std::map<std::pair<ChunkId, ItemId>, ItemUpdate> measuring_;
  PendingItems pending_;
  std::vector<JournalMark> marks_;
  ItemId sync_asked_ = 0;  // of the journal, with all items before it; 0: not yet
  ItemId synced_ = 0;
  std::uint64_t held_bytes_ = 0;  // of what is measured and pending
  WeightsReaders readers_;
  // Without a journal, where what is accepted is applied at once: read, and not accepted while weights are read that
  // would be kept then; by chunk, in the order in which they came.
  std::map<ChunkId, std::deque<lane::Measured>> held_up_;
  ApplierCounters counters_;
};

}  // namespace ballast
