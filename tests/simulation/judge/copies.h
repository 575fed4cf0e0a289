// Judges which snapshots are copied to another place, and what is in the sets there.
#pragma once

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "tests/simulation/copies.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class CopiesJudge {
 public:
  explicit CopiesJudge(const LifeSpec& life) : life_(life) {}

  void ledger_durable(const Disks& disks, const CopyPlace& place, const Ledger& before, const Ledger& after,
                      Micros now);
  void removes(const Ledger& durable, RunId run, SnapshotId id) const;
  // The job has finished; nothing has ever failed in copying.
  void finished_well(const CopyPlace& place, const Ledger& durable) const;
  // The user has stopped it, with patience left.
  void stopped_well(const Ledger& durable, Micros now) const;

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  [[nodiscard]] CopyState state_before(const CopyPlace& place, const CopyState& was, const CopyState& is);
  void check_gone_back(const CopyPlace& place, const CopyState& was, const Ledger& after) const;
  void check_complete(const Disks& disks, const CopyPlace& place, const CopyState& copies) const;
  [[nodiscard]] bool is_undisturbed() const;
  [[nodiscard]] bool may_be_given_up(Micros now) const;

  const LifeSpec& life_;
  SnapshotId newest_named_;  // under the run's name
  Micros named_at_ = 0;
  Timeline named_on_ = 0;
  bool ended_late_ = false;  // patience with the last copy may have been over
  FactSet facts_;
};

}  // namespace ballast::simulation
