// The judge of what happens to single items, in lives where each is an update of its own: who granted them, what they
// were computed from, in which order each chunk took them, and what of that is found again after a crash.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/protocol/covered_items.h"
#include "common/protocol/ids.h"
#include "common/protocol/lane.h"
#include "common/protocol/messages.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/life.h"
#include "tests/simulation/reference.h"
#include "tests/simulation/violation.h"

namespace ballast::simulation {

// Weights of one chunk that a worker computes from.
struct ItemBase {
  Version version = 0;
  Expression weights = 0;
  std::uint64_t ticket = 0;  // by which they were asked for
  JournalMark mark;
};

// An item's contribution to a chunk on its way into the history.
struct ItemUpdate {
  std::uint32_t process = 0;  // the lane's life
  std::uint32_t lane = 0;
  Timeline timeline = 0;
  ChunkId chunk = 0;
  Step step = 0;
  Node node;
  Version version = 0;
  StepFactors factors;
  Payload payload;
  SessionId session = 0;
};

// Every method throws Violation.
class ItemJudge {
 public:
  ItemJudge(const LifeSpec& life, const std::vector<Disk>& disks)
      : life_(life), disks_(disks), policy_(life.non_finite) {}
  void resumes_with(NonFinite policy) { policy_ = policy; }

  // ---- timelines
  // The lead takes the decision, by what shards can do now; it is durable later.
  void timeline_wanted();
  void timeline_begins(Timeline timeline, SnapshotId base);
  void lane_began(std::uint32_t process, std::uint32_t lane, Timeline timeline, Step base);
  // A shard has lost what it had told to be committed: what was built upon it must not survive.
  void lost(std::uint32_t shard);
  [[nodiscard]] bool has_lost(Timeline timeline) const { return !history(timeline).lossy.empty(); }
  // A shard comes back with nothing of the newest timeline.
  void cannot_resume() { may_begin_again_ = true; }
  void recovered(std::uint32_t process, std::uint32_t lane, Timeline timeline, Step base, const Journal& journal,
                 const std::vector<JournalRecord>& records);

  // ---- lanes
  void appended(const ItemUpdate& update, const lane::Append& action, std::uint64_t sequence);
  void applied(const ItemUpdate& update, const ChunkValue& result);
  void receipt_sent(SessionId session, Timeline timeline, const Receipt& receipt);
  // `base`: of the push that is refused.
  void expired(Timeline timeline, const Receipt& receipt, Version base) const;
  void weights_sent(Timeline timeline, const Weights& header, Expression value) const;
  void snapshot_taken(Timeline timeline, Step step, ChunkId chunk, const ChunkValue& value) const;
  void reported(std::uint32_t process, std::uint32_t lane, const LaneReport& report) const;
  [[nodiscard]] Version version(Timeline timeline, ChunkId chunk) const;
  // With the updates that wait for their commit.
  [[nodiscard]] Version accepted(Timeline timeline, ChunkId chunk) const;
  // Whether the update is appended and waits for its commit.
  [[nodiscard]] bool is_pending(Timeline timeline, ChunkId chunk, ItemId item) const;

  // ---- workers
  // Returns the origin that the gradients shall bear.
  std::uint32_t computes(Timeline timeline, ItemId item, const Grant& grant, std::vector<ItemBase> bases);

  // ---- the lead
  void lead_starts() { newest_clock_ = 0; }
  void granted(SessionId session, const Assign& assign);
  void planned(const Plan& plan);

  // ---- what is durable
  [[nodiscard]] Expression weights(Timeline timeline, Step step) const;
  [[nodiscard]] ChunkValue value(Timeline timeline, ChunkId chunk, Version version) const;
  // The snapshot is complete: a cut, and nothing in it was made from what is forgotten.
  void completed(SnapshotId id);
  void check_statistics(Timeline timeline, const std::vector<StepStatistics>& statistics) const;

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  struct Entry {
    ItemId item = 0;
    Payload payload;
    StepFactors factors;
    SessionId session = 0;
    std::uint64_t sequence = 0;  // in the journal
    bool receipted = false;
    ChunkValue after;
  };
  // In the order of versions: first those that are applied, then those that wait for their commit.
  struct ChunkHistory {
    std::vector<Entry> entries;
    std::size_t applied = 0;
  };
  struct History {
    SnapshotId base;
    std::vector<ChunkHistory> chunks;
    std::map<Step, std::vector<StepStatistics>>
        statistics;     // what whole steps have come to, more than one after a loss
    Step furthest = 0;  // that all chunks had come to
    Step checked = 0;   // snapshots up to this one were
    Version planned = 0;
    std::set<std::uint32_t> lossy;  // shards that have lost something committed
  };
  struct Origin {
    Timeline timeline = 0;
    ItemId item = 0;
    std::vector<ItemBase> bases;
  };
  struct LaneCounts {
    StalenessCounts staleness;
    std::map<std::pair<std::uint32_t, Incarnation>, std::uint64_t> marks;  // in its timeline
  };

  [[nodiscard]] History& history(Timeline timeline);
  [[nodiscard]] const History& history(Timeline timeline) const;
  [[nodiscard]] std::uint32_t shard_of(ChunkId chunk) const { return life_.chunks[chunk].lane / life_.lanes; }
  [[nodiscard]] std::string place(ChunkId chunk, ItemId item) const;
  [[nodiscard]] Step next_cut(Step step) const;
  std::uint64_t check_contribution(const ItemUpdate& update, const ChunkHistory& known) const;
  [[nodiscard]] StepFactors expected_factors(const ItemUpdate& update, std::uint64_t staleness) const;
  void check_marks(const ItemUpdate& update, const std::vector<JournalMark>& marks);
  void check_recovered(const History& known, const std::vector<JournalRecord>& records, ChunkId chunk,
                       Version base) const;
  void count_staleness(std::uint32_t process, std::uint64_t staleness, bool skipped);
  void note_marks(std::uint32_t process, const std::vector<JournalMark>& marks);
  [[nodiscard]] bool is_committed(std::uint32_t shard, Timeline timeline, std::uint64_t sequence) const;
  [[nodiscard]] ChunkValue after(Timeline timeline, ChunkId chunk, Version version) const;
  [[nodiscard]] StepStatistics part(const Entry& entry) const;
  void sum_statistics(History& known, Step step) const;
  void advance(History& known) const;
  [[nodiscard]] ItemId reached(const History& known, std::uint32_t lane) const;
  [[nodiscard]] std::vector<bool> covered(const History& known, std::uint32_t lane) const;
  void check_lineage(Timeline timeline, const Entry& entry, ChunkId chunk, Step step) const;

  const LifeSpec& life_;
  const std::vector<Disk>& disks_;
  NonFinite policy_;
  std::map<Timeline, History> histories_;
  std::vector<Origin> origins_{1};             // 0 is none
  std::map<std::uint32_t, LaneCounts> lanes_;  // by process
  bool may_begin_again_ = false;
  std::map<std::uint64_t, std::pair<SessionId, ItemId>> grants_;  // by clock
  std::uint64_t newest_clock_ = 0;
  ItemId granted_until_ = 0;
  FactSet facts_;
};

}  // namespace ballast::simulation
