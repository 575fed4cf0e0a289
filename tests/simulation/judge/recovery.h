// Judges what a crash may take along in item mode: a journal gives back all that it had promised, and a job goes back
// only if it must.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/ids.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/judge/item_histories.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Whether the journal still has it in the next life, power cut or not if it is to be synced. `timeline`: of the update.
[[nodiscard]] bool is_committed(const LifeSpec& life, const Disk& disk, Timeline timeline, std::uint64_t sequence);

// A lane that goes on within its timeline. Throws Violation.
void check_recovered(const LifeSpec& life, const ItemHistories& histories, const LaneLife& lane, Step base,
                     const Journal& journal, const std::vector<JournalRecord>& records);

// Whether a new timeline may begin: only if a shard has lost something, or has nothing of the newest one.
class Rollbacks {
 public:
  explicit Rollbacks(const LifeSpec& life) : life_(life) {}

  // A shard comes back with nothing of the newest timeline.
  void cannot_resume() { may_begin_again_ = true; }
  // The lead takes the decision, by what shards can do now; it is durable later.
  void timeline_wanted(const ItemHistories& histories, const Disks& disks);
  // Throws Violation.
  void timeline_begins(const ItemHistories& histories, const Disks& disks);

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  const LifeSpec& life_;
  bool may_begin_again_ = false;
  FactSet facts_;
};

}  // namespace ballast::simulation
