// What each chunk has come to in item mode: one update after the other, in every timeline, with the values between.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "tests/simulation/life.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

// A history, plain; that what is added to it may be is judged elsewhere. What asks for a version that is not there
// throws Violation.
class ItemHistories {
 public:
  struct Entry {
    ItemId item = 0;
    Payload payload;
    StepFactors factors;
    SessionId session = 0;
    std::uint64_t sequence = 0;  // in the journal
    bool receipted = false;
    ChunkValue after;
    std::uint64_t staleness = 0;
  };
  // In the order of versions: first those that are applied, then those that wait for their commit.
  struct Chunk {
    std::vector<Entry> entries;
    std::size_t applied = 0;

    [[nodiscard]] bool has_pending(ItemId item) const;
    [[nodiscard]] bool has(ItemId item) const;
  };
  struct History {
    SnapshotId base;
    std::vector<Chunk> chunks;
    // What whole steps have come to, more than one after a loss.
    std::map<Step, std::vector<StepStatistics>> statistics;
    Step furthest = 0;  // that all chunks had come to
    Step checked = 0;   // snapshots up to this one were
    Version planned = 0;
    ItemId resumed_at = 0;          // some chunk had all before it, or beyond, when the job was resumed with other cuts
    std::set<std::uint32_t> lossy;  // shards that have lost something committed
  };

  explicit ItemHistories(const LifeSpec& life) : life_(life), snapshot_every_(life.snapshot_every) {}

  [[nodiscard]] bool empty() const { return histories_.empty(); }
  [[nodiscard]] bool contains(Timeline timeline) const { return histories_.contains(timeline); }
  [[nodiscard]] Timeline newest() const { return histories_.rbegin()->first; }
  [[nodiscard]] History& of(Timeline timeline);
  [[nodiscard]] const History& of(Timeline timeline) const { return const_cast<ItemHistories*>(this)->of(timeline); }

  void begin(Timeline timeline, SnapshotId base);
  // Forgets what comes after the base.
  void rewind(Timeline timeline, ChunkId chunk, Step base);
  // The first update that waits for its commit takes effect.
  void apply_next(Timeline timeline, ChunkId chunk);
  // Of a chunk whose entries are there: so many were applied, as a journal says.
  void recover(Timeline timeline, ChunkId chunk, Version version);

  // From now on snapshots are due at other steps: those that some chunk is beyond are passed over.
  void resumes_with_snapshots(Step every);

  void sum_from(Timeline timeline, Step base);
  void advance(Timeline timeline) { advance(of(timeline)); }

  // What the update of that version makes of it.
  [[nodiscard]] ChunkValue after(Timeline timeline, ChunkId chunk, Version version) const;
  [[nodiscard]] ChunkValue value(Timeline timeline, ChunkId chunk, Version version) const;
  // Of all chunks after so many steps.
  [[nodiscard]] Expression weights(Timeline timeline, Step step) const;
  // The next step after all that there is where all wait for each other.
  [[nodiscard]] Step next_cut(const History& known) const;

  [[nodiscard]] std::string place(ChunkId chunk, ItemId item) const;

 private:
  [[nodiscard]] StepStatistics part(const Entry& entry) const;
  void sum_statistics(History& known, Step step) const;
  [[nodiscard]] bool has_come_to(const History& known, Step step) const;
  void advance(History& known) const;

  const LifeSpec& life_;
  Step snapshot_every_;  // by the newest start of the job
  std::map<Timeline, History> histories_;
};

}  // namespace ballast::simulation
