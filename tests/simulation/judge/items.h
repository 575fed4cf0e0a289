// The judge of item mode: who granted items, what they were computed from, in which order each chunk took them, and
// what of that is found again after a crash.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/lane.h"
#include "protocol/messages.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/judge/contributions.h"
#include "tests/simulation/judge/cuts.h"
#include "tests/simulation/judge/grants.h"
#include "tests/simulation/judge/item_histories.h"
#include "tests/simulation/judge/recovery.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// One of the two courses that a job takes; RoundsJudge is the other. Every method throws Violation.
class ItemsJudge {
 public:
  explicit ItemsJudge(const LifeSpec& life)
      : life_(life), histories_(life), contributions_(life), cuts_(life), grants_(life), rollbacks_(life) {}

  // ---- timelines
  void lead_starts() { cuts_.lead_starts(); }
  void resumes_with(NonFinite policy) { contributions_.resumes_with(policy); }
  void resumes_with_snapshots(Step every) { histories_.resumes_with_snapshots(every); }
  // `newest`: of the durable ledger.
  void lane_starts(const Disk& disk, Timeline newest);
  void timeline_wanted(const Disks& disks) { rollbacks_.timeline_wanted(histories_, disks); }
  void cannot_resume() { rollbacks_.cannot_resume(); }
  void timeline_begins(const Disks& disks, Timeline timeline, SnapshotId base);
  void ledger_given(const Ledger& ledger) { cuts_.ledger_given(ledger); }
  void ledger_durable(const Ledger& /*ledger*/) {}
  // After timeline_begins(), if it begins one.
  void check_cut(const Disks& disks, const Ledger& ledger) { cuts_.ledger_durable(histories_, disks, ledger); }
  void lane_began(const LaneLife& lane, Step base);
  // A shard has lost what it had told to be committed: what was built upon it must not survive.
  void lost(std::uint32_t shard, const Disk& disk);
  void recovered(const LaneLife& lane, Step base, const Journal& journal, const std::vector<JournalRecord>& records);

  // ---- lanes
  [[nodiscard]] Version version(Timeline timeline, ChunkId chunk) const {
    return histories_.of(timeline).chunks[chunk].applied;
  }
  // With the updates that wait for their commit.
  [[nodiscard]] Version accepted(Timeline timeline, ChunkId chunk) const {
    return histories_.of(timeline).chunks[chunk].entries.size();
  }
  // Whether the update is appended and waits for its commit.
  [[nodiscard]] bool is_pending(Timeline timeline, ChunkId chunk, ItemId item) const {
    return histories_.of(timeline).chunks[chunk].has_pending(item);
  }
  // Only the newest version is kept.
  [[nodiscard]] bool is_gone(Timeline timeline, const Gone& gone) const {
    return gone.version < version(timeline, gone.chunk);
  }
  void appended(const ItemUpdate& update, const lane::Append& action, std::uint64_t sequence);
  void applied(const Disks& disks, const ItemUpdate& update, const ChunkValue& result);
  void receipt_sent(SessionId session, Timeline timeline, const Receipt& receipt, const HeldPayloads& held);
  // `base`: of the push that is refused for good.
  void expired(Timeline timeline, const Receipt& receipt, Version base) const {
    contributions_.expired(histories_, timeline, receipt, base);
  }
  void weights_sent(const Disks& disks, Timeline timeline, const Weights& header, Expression value) const;
  void settled(Timeline timeline, const HeldPayloads& held) const;
  void snapshot_taken(SnapshotId id, ChunkId chunk, const ChunkValue& value) const;
  void reported(const LaneLife& lane, const LaneReport& report) const;

  // ---- workers
  // Returns the origin that the gradients shall bear.
  std::uint32_t computes(ItemId item, const Grant& grant, std::vector<ItemBase> bases) {
    return contributions_.computes(histories_, item, grant, std::move(bases));
  }
  void evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const;

  // ---- the lead
  void settled(const std::vector<LeadNumber>& grants) { grants_.settled(grants); }
  void hangs(SessionId session) { grants_.hangs(session); }
  [[nodiscard]] std::uint32_t granted_in_vain(SessionId session, Timeline timeline) const {
    return grants_.granted_in_vain(session, timeline);
  }
  void assigned(SessionId session, const Assign& assign) { grants_.assigned(histories_, session, assign); }
  void planned(const Plan& plan) {
    grants_.planned(histories_, plan);
    cuts_.planned(plan);
  }
  void confirmed(const Confirm& confirm) const { cuts_.confirmed(confirm); }

  // ---- what is durable
  [[nodiscard]] ChunkValue value(Timeline timeline, Step step, ChunkId chunk) const {
    return histories_.value(timeline, chunk, life_.updates(step));
  }
  // The snapshot is complete: a cut, and nothing in it was made from what is forgotten.
  void completed(SnapshotId id);
  void check_logs(const StoredLedger& stored) const;
  void check_end(Step /*end*/) const {}
  void check_evaluations(const StoredLedger& stored) const;
  [[nodiscard]] FactSet facts() const;

 private:
  void accept(const ItemUpdate& update, std::uint64_t sequence, std::uint64_t staleness);
  void note_state(const HeldPayload& held, std::uint64_t staleness);
  [[nodiscard]] const Disk& disk_of(const Disks& disks, ChunkId chunk) const {
    return disks.present[life_.chunks[chunk].lane / life_.lanes];
  }
  [[nodiscard]] ItemId item_of(const HeldPayload& held) const { return held.step * life_.slots + held.node.begin; }

  const LifeSpec& life_;
  ItemHistories histories_;
  ContributionsJudge contributions_;
  CutsJudge cuts_;
  GrantsJudge grants_;
  Rollbacks rollbacks_;
  FactSet facts_;
};

}  // namespace ballast::simulation
