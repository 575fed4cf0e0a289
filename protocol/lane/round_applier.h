// Rounds: all slots of a step together make one update of each chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/applied_update.h"
#include "protocol/lane/chunk_table.h"
#include "protocol/lane/factor_plan.h"
#include "protocol/lane/lane_budget.h"
#include "protocol/lane/lane_config.h"
#include "protocol/lane/lane_events.h"
#include "protocol/lane/round.h"
#include "protocol/lane/weights_readers.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Collects each chunk's contributions, and applies their sum when it is measured and the factors are known. Where
// updates are measured, that waits for their prospect. What item mode has besides, such as a journal, is answered by
// what is so without it. Invariants:
//   1. every chunk is at open_step() or open_step() + 1, whatever is sent;
//   2. a gradient that is not finite is never applied: its step is skipped by the lead's word, or waits.
// Pure and copyable. Not thread-safe.
class RoundApplier {
 public:
  explicit RoundApplier(const LaneConfig& config);

  // ---- contributions
  // `push` is of a chunk of the lane, its node one of the tree, its payload of the chunk's size.
  Offered offer(SessionId session, const Push& push, PayloadId payload, const FactorPlan& plan);
  ApplierOutcome measured(const lane::Measured& event, const FactorPlan& plan);
  // The plan has become longer, perhaps.
  ApplierOutcome planned(const FactorPlan& plan);
  ApplierOutcome committed(std::uint64_t ticket, std::uint64_t sequence, const FactorPlan& plan);
  void synced(ItemId /*before*/) {}
  // What the events before have left to do.
  ApplierOutcome go_on(const FactorPlan& plan);
  [[nodiscard]] bool has_more() const { return next_decided_ < chunks_.size() || readers_.may_go_on(); }

  // ---- what is called
  [[nodiscard]] static bool is_of_items() { return false; }
  [[nodiscard]] Slot slots() const { return slots_; }
  // The least memory for contributions with which every step can end.
  [[nodiscard]] static std::uint64_t reserve(const LaneConfig& config) {
    return reserve_of(config.slots, config.chunks, config.needs_whole_gradient, false);
  }
  [[nodiscard]] static std::uint64_t statistics_room(const LaneConfig& config) {
    return statistics_room_of(config.slots, config.chunks);
  }
  [[nodiscard]] Want want(const Work& work, const FactorPlan& plan) const;
  // Whether it would be joined at once with what is held.
  [[nodiscard]] bool joins(const Work& work) const;
  // Of items alone: whether it is taken, and not applied yet.
  [[nodiscard]] static bool holds(const Work& /*work*/) { return false; }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }
  // The lowest open chunk is the first one that is not applied, or of jobs whose decision needs the whole gradient the
  // first one that is not covered.
  [[nodiscard]] Spine spine() const;
  [[nodiscard]] std::optional<OldestWanted> oldest_wanted() const;

  // ---- timelines
  // Gives up all contributions: their payloads.
  std::vector<PayloadId> forget();
  void begin(Step base, Incarnation incarnation);
  ResumedItems resume(const lane::Resumed& event);
  [[nodiscard]] std::vector<ShardLife> lives() const { return {}; }
  [[nodiscard]] static bool is_journaled() { return false; }

  // ---- who reads its weights
  [[nodiscard]] WeightsReaders& readers() { return readers_; }
  [[nodiscard]] const WeightsReaders& readers() const { return readers_; }

  // ---- how far it is
  [[nodiscard]] std::optional<ServedChunk> served(ChunkId id) const;
  // The version that a contribution asks for.
  [[nodiscard]] WantedVersion wanted(const Push& push) const;
  [[nodiscard]] Version version_at(Step step) const { return step; }
  [[nodiscard]] bool will_be(Version version) const { return version <= steps_; }
  [[nodiscard]] Step open_step() const { return open_step_; }
  [[nodiscard]] bool is_past(Step step) const;
  // The chunks that are exactly at that step.
  [[nodiscard]] std::vector<LaneChunk> chunks_at(Step step) const;
  // Whether nothing is computed for the lane before the lead has heard that its plan goes beyond `known`.
  [[nodiscard]] bool stands_at(Version /*known*/) const { return false; }
  [[nodiscard]] Slot parts_of_step() const { return 1; }  // in which statistics come
  [[nodiscard]] ItemId covered_items() const { return 0; }
  [[nodiscard]] std::uint64_t journal_sequence() const { return 0; }
  [[nodiscard]] std::size_t held_payloads() const { return held_payloads_; }
  [[nodiscard]] const ApplierCounters& counters() const { return counters_; }
  void tell(LaneReport& report) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(
        listed::plain(slots_, steps_, event_bytes_, measures_updates_, needs_whole_gradient_), listed::parts(chunks_),
        listed::plain(base_, open_step_, behind_, next_decided_, waiting_chunks_), listed::names(brought_first_),
        listed::accounts(held_payloads_), listed::fixed(held_bytes_, root_bytes_, lowest_), listed::parts(readers_),
        listed::accounts(counters_));
  }

 private:
  struct Chunk {
    Chunk(LaneChunk chunk, Slot slots) : spec(chunk), round(slots) {}

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(spec), listed::parts(round),
                         listed::plain(version, fault, is_read, measure, waits), listed::accounts(reached_by));
    }

    LaneChunk spec;
    Round round;
    Version version = 0;
    Slot fault = kNoSlot;                 // the first slot of the round that is said to be not finite
    bool is_read = false;                 // covered, and to be measured
    std::optional<ChunkMeasure> measure;  // of the round, which is covered
    bool waits = false;                   // covered, and counted in waiting_chunks_
    std::vector<SessionId> reached_by;    // some of those whose contributions made the version
  };

  std::optional<lane::Measure> read_if_foreseen(Chunk& chunk, const FactorPlan& plan);
  static void reopen(Chunk& chunk);
  void note_first(SessionId session, Node node);
  void collect(Chunk& chunk, SessionId session, const Push& push, PayloadId payload, Offered& offered);
  ApplierOutcome apply_decided(const FactorPlan& plan);
  std::uint64_t apply_waiting(const FactorPlan& plan, ApplierOutcome& outcome);
  std::optional<AppliedUpdate> apply_if_decided(Chunk& chunk, const FactorPlan& plan);
  bool wait_for_decision(Chunk& chunk);
  [[nodiscard]] bool is_open(const Chunk& chunk) const;
  void find_lowest();
  [[nodiscard]] ServedChunk served(const Chunk& chunk) const;

  Slot slots_;
  Step steps_;
  std::uint64_t event_bytes_;
  bool measures_updates_;
  bool needs_whole_gradient_;
  ChunkTable<Chunk> chunks_;
  Step base_ = 0;
  Step open_step_ = 0;
  std::size_t behind_ = 0;          // chunks still at open_step_
  std::size_t next_decided_;        // chunks from here on may be due by a plan, to be applied or measured
  std::size_t waiting_chunks_ = 0;  // covered ones of open_step_ that have no decision
  // Who brought each slot of the open statistics first, though another's sum may have taken its place since; 0: nobody
  // yet.
  std::vector<SessionId> brought_first_;
  std::size_t held_payloads_ = 0;
  // These follow from the chunks.
  std::uint64_t held_bytes_ = 0;
  std::uint64_t root_bytes_ = 0;  // of covered chunks, in jobs whose decision needs the whole gradient
  std::size_t lowest_ = 0;        // the lowest open chunk
  WeightsReaders readers_;
  ApplierCounters counters_;
};

}  // namespace ballast
