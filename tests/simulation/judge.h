// The judge of a life: keeps the true history itself, from what it sees given, taken and made durable, and asserts
// every promise directly. It never asks a core what happened; where a core states a number, it is compared with the
// judge's own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/lead.h"
#include "common/protocol/messages.h"
#include "tests/simulation/copies.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/items_judge.h"
#include "tests/simulation/life.h"
#include "tests/simulation/pause_judge.h"
#include "tests/simulation/presence_judge.h"
#include "tests/simulation/provenance_judge.h"
#include "tests/simulation/reference.h"
#include "tests/simulation/stop_judge.h"
#include "tests/simulation/violation.h"

namespace ballast::simulation {

// A contribution that a lane's shell keeps for its core.
struct HeldPayload {
  ChunkId chunk = 0;
  Step step = 0;
  Node node;  // the slots it covers
  Payload payload;
  SessionId session = 0;  // that brought it
};
using HeldPayloads = std::map<PayloadId, HeldPayload>;

// One life of a lane, and the timeline that its shell has put in place.
struct LaneLife {
  std::uint32_t process = 0;
  std::uint32_t lane = 0;
  Incarnation incarnation = 0;
  Timeline timeline = 0;
  DatabaseLife database = {};
};

// Every method throws Violation.
class Judge {
 public:
  Judge(const LifeSpec& life, const Disks& disks, const CopyPlace& place);

  // ---- lanes
  void asked(SessionId session, ChunkId chunk, Version version);
  // What to call the version of a pull of whatever is the newest.
  [[nodiscard]] static Version newest_for(std::uint64_t ticket);
  void weights_sent(SessionId session, const LaneLife& lane, const Weights& header, std::uint64_t bytes,
                    Expression value);
  void replies_released(SessionId session, const LaneLife& lane, std::uint64_t bytes);
  void receipt_sent(SessionId session, const LaneLife& lane, const Receipt& receipt, const HeldPayloads& held);
  void gone_sent(const LaneLife& lane, const Gone& gone) const;
  void stale_sent(const LaneLife& lane, const Stale& stale) const;
  void refused_by_lane(const Refused& refused) const;
  void applied(const LaneLife& lane, ChunkId chunk, bool is_statistics, Step step, const HeldPayload& root,
               const StepFactors& factors, const ChunkValue& result);
  // Where each item is an update of its own.
  void item_applied(const LaneLife& lane, const lane::Apply& action, const HeldPayload& held, const ChunkValue& result);
  void item_appended(const LaneLife& lane, const lane::Append& action, const HeldPayload& held, std::uint64_t sequence);
  void resumed(const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values,
               const std::vector<JournalRecord>& records);
  void lane_settled(const LaneLife& lane, const HeldPayloads& held, std::size_t stated) const;
  void began(const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values);
  void snapshot_taken(const LaneLife& lane, SnapshotId id, ChunkId chunk, const ChunkValue& value) const;
  void deletes(std::uint32_t shard, SnapshotId id) const;
  // A set of copies, from the place.
  void removes(RunId run, SnapshotId id) const { copies_.removes(ledger_, run, id); }
  void records_finish(const LaneLife& lane, SnapshotId end) const;
  void reported(const LaneLife& lane, const LaneReport& report) const;
  // A contribution that is said to have come too late, computed from `base`.
  void expired(const LaneLife& lane, const Receipt& receipt, Version base) const;
  // A server begins, with the digest of the initial weights that it has read; empty: none.
  void server_starts(std::uint32_t shard, Incarnation incarnation, const std::string& weights) {
    provenance_.server_starts(shard, incarnation, weights);
  }
  // A lane's process begins: what its last life counted is gone.
  void lane_starts(const LaneLife& lane);

  // ---- workers
  void computes(Timeline timeline, Step step, const std::vector<SlotRange>& ranges, Expression weights) const;
  void evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const;

  // A session's worker, before it says anything.
  void worker_starts(SessionId session, const std::string& name, const LifeWorker& worker) {
    provenance_.worker_starts(session, name, worker);
  }
  // It computes.
  void works(SessionId session) const { provenance_.works(session); }

  // ---- the lead
  void lead_starts(Micros now);
  void refused(SessionId session) const { provenance_.refused(session); }
  // The lead takes what a server says with its hello.
  void taken(const LaneLife& lane) { provenance_.taken(lane.incarnation); }
  // A server, for the initial weights that it has read, which are returned.
  const std::string& refused_weights(const LaneLife& lane) const {
    return provenance_.refused_weights(lane.incarnation);
  }
  // The lead has got a message of the lane.
  void heard(const LaneLife& lane, Micros now) { presence_.heard(lane.database.database, now); }
  // The lead does not take the lane for its shard's.
  void turned_away(const LaneLife& lane) const;
  // What the user says.
  void commanded(Control::Command command, Lead::Phase phase);
  // What the user is told.
  void called_paused() const { pause_.called_paused(); }
  void assigned(SessionId session, const Assign& assign);
  void confirmed(std::uint32_t shard, const Confirm& confirm);
  void planned(const Plan& plan);
  void said_finished(const Finish& finish) const;
  // The lead's clock, before it does what is due.
  void lead_ticks(Micros clock) { stop_.ticks(clock); }
  void said_hello(SessionId session) { stop_.said_hello(session); }
  // The lead has dealt with an event.
  void lead_stands(Lead::Phase before, Lead::Phase after) { stop_.stands(before, after); }
  // And has ended the run for the user's stop. `copies_excused` as with finished_well.
  void stopped(Lead::Phase before, const Status& status, Micros now, bool copies_excused) const;
  // The lead gives its ledger out to be written; then it is durable.
  void ledger_given() { pause_.ledger_given(); }
  void ledger_durable(const StoredLedger& stored, Micros now);
  // The user resumes a job that has halted at a gradient, so that it may be skipped.
  void resumes_with(NonFinite policy);

  // ---- the end
  // `copies_excused`: an attempt to copy a snapshot has failed.
  void finished_well(const Status& status, const StoredLedger& stored, bool copies_excused) const;
  void stopped_well(const StoredLedger& stored, bool out_of_patience) const;
  [[nodiscard]] bool finish_recorded() const { return ledger_.finished.has_value(); }
  // The lead begins a new timeline, which is not durable yet.
  void timeline_wanted();
  // What has happened to the durable state and to items.
  [[nodiscard]] FactSet facts() const;
  // Null in lives of rounds.
  [[nodiscard]] ItemJudge* items() { return items_.get(); }
  [[nodiscard]] bool knows_a_gradient_that_is_not_finite() const { return !life_.non_finite_gradients.empty(); }

 private:
  struct Order {
    std::uint64_t order = 0;
    Generation generation = 0;
    Assign last;
  };
  // What the durable ledger said of a timeline when it was first there, and how far its chunks have come.
  struct History {
    SnapshotId base;
    std::vector<Incarnation> incarnations;
    std::uint64_t placement = 0;
    std::shared_ptr<const Reference> reference;  // of rounds
    std::vector<Version> versions;
    std::map<Slot, SessionId> contributors;  // of the statistics chunk's open step
    std::set<Step> ordered;                  // snapshots
  };

  [[nodiscard]] const History& history(Timeline timeline) const;
  [[nodiscard]] StopJudge::Reached reached() const;
  // The timeline that a lane serves; it must be allowed to.
  const History& serves(const LaneLife& lane) const;
  [[nodiscard]] std::uint32_t shard(std::uint32_t lane) const { return lane / life_.lanes; }
  [[nodiscard]] bool is_present(const LaneLife& lane) const;
  void check_slots(SlotRange range) const;
  void check_timeline(const Ledger& ledger);
  void check_complete(const Ledger& ledger) const;
  void check_held(SnapshotId id, Timeline timeline) const;
  void check_skipped(const Ledger& ledger) const;
  void check_logs(const StoredLedger& stored) const;
  void check_finished(const Ledger& ledger) const;
  void check_round_receipt(const LaneLife& lane, History& known, SessionId session, const Receipt& receipt,
                           const HeldPayloads& held) const;
  void check_plan_factors(const Plan& plan) const;
  void note_facts(const Ledger& ledger);
  void take_new_lives(const Ledger& ledger, History& known);
  [[nodiscard]] ChunkValue value(const History& known, Timeline timeline, Step step, ChunkId chunk) const;
  void check_evaluations(const StoredLedger& stored, Timeline timeline) const;
  [[nodiscard]] Slot first_fault(Step step, ChunkId chunk) const;
  [[nodiscard]] bool is_faulty(Step step) const;

  const LifeSpec& life_;
  const Disks& disks_;
  NonFinite policy_;
  std::unique_ptr<ItemJudge> items_;
  CopiesJudge copies_;
  PresenceJudge presence_;
  ProvenanceJudge provenance_;
  PauseJudge pause_;
  StopJudge stop_;
  std::shared_ptr<const Reference> reference_;  // of rounds, by the newest durable ledger
  Ledger ledger_;                               // the durable one
  std::vector<SnapshotId> known_complete_;      // by the durable one before it
  CopyState known_copies_;                      // the same
  std::map<Timeline, History> histories_;
  std::map<std::tuple<SessionId, ChunkId, Version>, std::uint32_t> asked_;    // and not answered yet
  std::map<std::pair<SessionId, std::uint32_t>, std::uint64_t> reply_bytes_;  // by session and lane's process
  std::map<SessionId, std::uint64_t> slots_by_session_;
  std::map<SessionId, Order> orders_;
  std::map<std::uint32_t, Incarnation> newest_lives_;  // by shard
  FactSet facts_;
  bool counts_slots_ = false;  // the lane that counts them serves, in a life that the lead's last timeline lists
};

}  // namespace ballast::simulation
