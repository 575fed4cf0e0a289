// The judge of rounds: every version of every chunk is the sequential reference's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

// An update that a lane has applied.
struct RoundUpdate {
  Timeline timeline = 0;
  ChunkId chunk = 0;
  Step step = 0;
  bool is_statistics = false;
  StepFactors factors;
};

// One of the two courses that a job takes; ItemsJudge is the other. Every method throws Violation.
class RoundsJudge {
 public:
  explicit RoundsJudge(const LifeSpec& life)
      : life_(life), reference_(std::make_shared<const Reference>(life, std::vector<StepRange>{})) {}

  // ---- timelines
  void lead_starts() {}
  void lane_starts(const Disk& /*disk*/, Timeline /*newest*/) {}
  void timeline_wanted(const Disks& /*disks*/) {}
  void timeline_begins(const Disks& disks, Timeline timeline, SnapshotId base);
  void lane_began(const LaneLife& /*lane*/, Step /*base*/) {}
  void resumes_with(NonFinite /*policy*/) {}
  void resumes_with_snapshots(Step /*every*/) {}
  // Steps of the ledger are skipped from now on.
  void ledger_given(const Ledger& /*ledger*/) {}
  void ledger_durable(const Ledger& ledger);
  void check_cut(const Disks& /*disks*/, const Ledger& /*ledger*/) {}

  // ---- lanes
  [[nodiscard]] Version version(Timeline timeline, ChunkId chunk) const { return history(timeline).versions[chunk]; }
  [[nodiscard]] Version accepted(Timeline timeline, ChunkId chunk) const { return version(timeline, chunk); }
  // Of the last two versions, and those since the base, none is gone.
  [[nodiscard]] bool is_gone(Timeline timeline, const Gone& gone) const;
  void weights_sent(const Disks& disks, Timeline timeline, const Weights& header, Expression value) const;
  void receipt_sent(SessionId session, Timeline timeline, const Receipt& receipt, const HeldPayloads& held);
  // Returns the sessions that are to be credited with a slot, for each one.
  std::vector<SessionId> applied(const RoundUpdate& update, const HeldPayload& root, const ChunkValue& result);
  void settled(Timeline timeline, const HeldPayloads& held) const;
  void snapshot_taken(SnapshotId id, ChunkId chunk, const ChunkValue& value) const;
  void reported(const LaneLife& lane, const LaneReport& report) const;

  // What the step's contributions come to, as nobody can know before all chunks are at it.
  [[nodiscard]] Payload true_root(Timeline timeline, Step step, ChunkId chunk) const;
  // Whether chunks were ever more than a version apart in it.
  [[nodiscard]] bool was_torn(Timeline timeline) const { return history(timeline).is_torn; }

  // ---- workers
  void computes(Timeline timeline, Step step, Expression weights) const;
  void evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const;

  // ---- the lead
  void assigned(SessionId session, const Assign& assign) const;
  void planned(const Plan& plan) const;
  void confirmed(const Confirm& /*confirm*/) const {}

  // ---- what is durable
  [[nodiscard]] ChunkValue value(Timeline timeline, Step step, ChunkId chunk) const;
  void completed(SnapshotId /*id*/) {}
  void check_logs(const StoredLedger& stored) const;
  void check_end(Step end) const;
  void check_evaluations(const StoredLedger& stored) const;
  [[nodiscard]] FactSet facts() const { return {}; }

 private:
  struct History {
    Step base = 0;
    std::shared_ptr<const Reference> reference;
    std::vector<Version> versions;
    std::map<Slot, SessionId> contributors;  // of the statistics chunk's open step
    bool is_torn = false;
  };

  [[nodiscard]] const History& history(Timeline timeline) const;
  void check_update(const RoundUpdate& update, const HeldPayload& root, const ChunkValue& result) const;
  void note_versions(History& known, ChunkId chunk) const;
  void check_sum(const RoundUpdate& update, const HeldPayload& root) const;

  const LifeSpec& life_;
  std::shared_ptr<const Reference> reference_;  // by the newest durable ledger
  std::map<Timeline, History> histories_;
};

}  // namespace ballast::simulation
