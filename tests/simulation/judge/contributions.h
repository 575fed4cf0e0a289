// Judges single contributions in item mode: what each was computed from, how stale it is, what it says that it rests
// on.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "protocol/covered_items.h"
#include "protocol/ids.h"
#include "protocol/lane/lane.h"
#include "protocol/messages.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/judge/item_histories.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Weights of one chunk that a worker computes from.
struct ItemBase {
  Version version = 0;
  Expression weights = 0;
  LeadNumber clock;  // by which they were asked for
  JournalMark mark;
};

// An item's contribution to a chunk on its way into the history.
struct ItemUpdate {
  LaneLife lane;
  HeldPayload held;
  Version version = 0;
  StepFactors factors;
};

// What one life of a lane has counted, in its timeline.
struct LaneCounts {
  StalenessCounts staleness;
  std::map<std::pair<std::uint32_t, Incarnation>, std::uint64_t> marks;
};

// Every method throws Violation.
class ContributionsJudge {
 public:
  explicit ContributionsJudge(const LifeSpec& life) : life_(life), policy_(life.non_finite) {}
  void resumes_with(NonFinite policy) { policy_ = policy; }

  // Returns the origin that the gradients shall bear.
  std::uint32_t computes(const ItemHistories& histories, ItemId item, const Grant& grant, std::vector<ItemBase> bases);

  // It is accepted as the next version: appended, or applied where there is no journal. Returns its staleness.
  std::uint64_t accepted(const ItemHistories& histories, const ItemUpdate& update);
  // And appended with this.
  std::uint64_t appended(const ItemHistories& histories, const ItemUpdate& update, const lane::Append& action);
  // `base`: of a push that is refused for good: it is too stale, or was computed from what its shard has lost.
  void expired(const ItemHistories& histories, Timeline timeline, const Receipt& receipt, Version base) const;
  // It survives in a snapshot: nothing that it was computed from may be forgotten.
  void check_lineage(const ItemHistories& histories, SnapshotId id, const ItemHistories::Entry& entry,
                     ChunkId chunk) const;

  // A life of a lane begins a timeline, or goes on in it with what it had noted.
  void lane_begins(std::uint32_t process) { lanes_[process].marks.clear(); }
  void note_marks(std::uint32_t process, const std::vector<JournalMark>& marks);
  [[nodiscard]] LaneCounts counts(std::uint32_t process) const;

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  struct Origin {
    ItemId item = 0;
    std::vector<ItemBase> bases;
  };

  [[nodiscard]] ItemId item_of(const ItemUpdate& update) const {
    return update.held.step * life_.slots + update.held.node.begin;
  }
  void check_name(const ItemHistories& histories, const ItemUpdate& update) const;
  [[nodiscard]] std::uint64_t staleness(const ItemHistories& histories, const ItemUpdate& update) const;
  [[nodiscard]] StepFactors expected_factors(const ItemUpdate& update, std::uint64_t staleness) const;
  void check_marks(const ItemHistories& histories, const ItemUpdate& update,
                   const std::vector<JournalMark>& marks) const;
  void count(std::uint32_t process, std::uint64_t staleness, bool skipped);

  const LifeSpec& life_;
  NonFinite policy_;
  std::vector<Origin> origins_{1};             // 0 is none
  std::map<std::uint32_t, LaneCounts> lanes_;  // by process
  FactSet facts_;
};

}  // namespace ballast::simulation
