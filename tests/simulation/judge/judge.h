// The judge of a life: keeps the true history itself, from what it sees given, taken and made durable, and asserts
// every promise directly. It never asks a core what happened; where a core states a number, it is compared with the
// judge's own.
//
// Here is the wiring alone: each subject has a file of its own in this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/lead.h"
#include "protocol/messages.h"
#include "tests/simulation/copies.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/judge/accounts.h"
#include "tests/simulation/judge/copies.h"
#include "tests/simulation/judge/departures.h"
#include "tests/simulation/judge/items.h"
#include "tests/simulation/judge/orders.h"
#include "tests/simulation/judge/pause.h"
#include "tests/simulation/judge/presence.h"
#include "tests/simulation/judge/provenance.h"
#include "tests/simulation/judge/replies.h"
#include "tests/simulation/judge/rollback_counts.h"
#include "tests/simulation/judge/rounds.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/judge/snapshots.h"
#include "tests/simulation/judge/stop.h"
#include "tests/simulation/judge/timelines.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// What is durable is handed to it, so that it can be copied with it. Every method throws Violation.
class Judge {
 public:
  explicit Judge(const LifeSpec& life);

  // ---- lanes
  void asked(SessionId session, ChunkId chunk, WeightsKey what) { replies_.asked(session, chunk, what); }
  void weights_sent(const Disks& disks, SessionId session, const LaneLife& lane, const Weights& header,
                    std::uint64_t bytes, Expression value);
  void replies_released(SessionId session, const LaneLife& lane, std::uint64_t bytes) {
    replies_.released(session, lane.process, bytes);
  }
  void receipt_sent(const Disks& disks, SessionId session, const LaneLife& lane, const Receipt& receipt,
                    const HeldPayloads& held);
  // A contribution that is said to have come too late, computed from `base`.
  void expired(const Disks& disks, const LaneLife& lane, const Receipt& receipt, Version base) const;
  void gone_sent(const Disks& disks, const LaneLife& lane, const Gone& gone) const;
  void stale_sent(const Disks& disks, const LaneLife& lane, const Stale& stale) const;
  static void refused_by_lane(const Refused& refused) { RepliesJudge::refused(refused); }
  void round_applied(const Disks& disks, const LaneLife& lane, const lane::Apply& action, const HeldPayload& root,
                     const ChunkValue& result);
  void item_applied(const Disks& disks, const LaneLife& lane, const lane::Apply& action, const HeldPayload& held,
                    const ChunkValue& result);
  void item_appended(const Disks& disks, const LaneLife& lane, const lane::Append& action, const HeldPayload& held,
                     std::uint64_t sequence);
  void lane_settled(const Disks& disks, const LaneLife& lane, const HeldPayloads& held, std::size_t stated) const;
  void reported(const Disks& disks, const LaneLife& lane, const LaneReport& report) const;

  // Of a job in rounds.
  [[nodiscard]] Payload true_root(Timeline timeline, Step step, ChunkId chunk) const {
    return std::get<RoundsJudge>(course_).true_root(timeline, step, chunk);
  }

  // ---- shards
  // A server begins, with the digest of the initial weights that it has read; empty: none.
  void server_starts(std::uint32_t shard, Incarnation incarnation, const std::string& weights) {
    provenance_.server_starts(shard, incarnation, weights);
  }
  // A lane's process begins: what its last life counted is gone.
  void lane_starts(const Disks& disks, const LaneLife& lane);
  void began(const Disks& disks, const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values);
  void resumed(const Disks& disks, const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values,
               const std::vector<JournalRecord>& records);
  // A shard has not what it had, or what it was to get: the job may go back beyond its newest snapshot.
  void lacks_base(std::uint32_t shard) {
    timelines_.lacks_base(shard);
    if (life_.items) {
      items().cannot_resume();
    }
  }
  // A shard's journal has lost what it had told to be committed.
  void lost(const Disks& disks, std::uint32_t shard);
  void snapshot_taken(const Disks& disks, const LaneLife& lane, SnapshotId id, ChunkId chunk,
                      const ChunkValue& value) const;
  void deletes(const CopyPlace& place, std::uint32_t shard, SnapshotId id, Timeline timeline) const;
  // A set of copies, from the place.
  void removes(RunId run, SnapshotId id) const { copies_.removes(timelines_.durable(), run, id); }
  void records_finish(const Disks& disks, const LaneLife& lane, SnapshotId end) const {
    check_end_recorded(life_, disks, timelines_.durable(), lane, end);
  }

  // A server is told to end.
  void told_to_end(const LaneLife& lane) { departures_.told(lane); }
  [[nodiscard]] bool is_told_to_end(Incarnation life) const { return departures_.is_told(life); }
  // One of its lanes lets it go.
  void departs(const LaneLife& lane, DeparturesJudge::Way way) {
    departures_.departs(lane, way, timelines_.durable(), reached().version);
  }
  // Servers that have gone in a timeline while all held for them.
  [[nodiscard]] std::size_t departed_in(Timeline timeline) const { return departures_.departed_in(timeline); }

  // ---- workers
  // A session's worker, before it says anything.
  void worker_starts(SessionId session, const std::string& name, const LifeWorker& worker) {
    provenance_.worker_starts(session, name, worker);
  }
  // It computes.
  void works(SessionId session) const { provenance_.works(session); }
  void computes(Timeline timeline, Step step, const std::vector<SlotRange>& ranges, Expression weights) const;
  void evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const;

  // ---- the lead
  void lead_starts(Micros now);
  // Its clock, before it does what is due.
  void lead_ticks(Micros clock) {
    stop_.ticks(clock);
    orders_.lead_ticks();
  }
  void lead_hears(std::uint32_t lane, const LaneReport& report) { orders_.heard(lane, report, timelines_.durable()); }
  // It has acted on what it has heard, and told whom it concerns.
  void lead_settled(Lead::Phase before, Lead::Phase after) { orders_.settled(before, after); }
  // It has got a message of the lane.
  void heard(const LaneLife& lane, Micros now) { presence_.heard(lane.database.database, now); }
  void said_hello(SessionId session) {
    stop_.said_hello(session);
    orders_.said_hello(session);
  }
  void said_progress(SessionId session, const Heartbeat& beat) { orders_.said_progress(session, beat); }
  // It takes what a server says with its hello.
  void taken(const LaneLife& lane) { provenance_.taken(lane.incarnation); }
  // It does not take the lane for its shard's.
  void turned_away(const Disks& disks, const LaneLife& lane) const { timelines_.turned_away(lane, disks); }
  void refused(SessionId session) const { provenance_.refused(session); }
  // A server, for the initial weights that it has read, which are returned.
  const std::string& refused_weights(const LaneLife& lane) const {
    return provenance_.refused_weights(lane.incarnation);
  }
  void assigned(SessionId session, const Assign& assign);
  void confirmed(std::uint32_t shard, const Confirm& confirm);
  void planned(const Plan& plan);
  void said_finished(const Finish& finish) const;
  // It has dealt with an event.
  void lead_stands(Lead::Phase before, Lead::Phase after) { stop_.stands(before, after); }
  // And has ended the run for the user's stop. `copies_excused` as with finished_well.
  void stopped(Lead::Phase before, const Status& status, Micros now, bool copies_excused) const;

  // ---- the ledger
  // The lead begins a new timeline, which is not durable yet.
  void timeline_wanted(const Disks& disks);
  // The lead gives its ledger out to be written; then it is durable.
  void ledger_given(const Ledger& ledger);
  void ledger_heard() {
    pause_.ledger_heard();
    timelines_.ledger_heard();
  }
  void ledger_durable(const Disks& disks, const CopyPlace& place, const StoredLedger& stored, Micros now);

  // ---- the user
  // What the user says.
  void commanded(Control::Command command, Lead::Phase phase);
  // What the user is told.
  void called_paused() const { pause_.called_paused(); }
  // The user resumes a job that has halted at a gradient, so that it may be skipped.
  void resumes_with(NonFinite policy);
  void resumes_with_snapshots(Step every);

  // ---- the end
  // `copies_excused`: an attempt to copy a snapshot has failed.
  void finished_well(const Disks& disks, const CopyPlace& place, const Status& status, const StoredLedger& stored,
                     bool copies_excused) const;
  void stopped_well(const StoredLedger& stored, bool out_of_patience) const;
  // What has happened to the durable state and to items.
  [[nodiscard]] FactSet facts() const;

  // Of a job in item mode.
  [[nodiscard]] ItemsJudge& items() { return std::get<ItemsJudge>(course_); }

 private:
  using Course = std::variant<RoundsJudge, ItemsJudge>;

  [[nodiscard]] StopJudge::Reached reached() const;
  void note_serving(const LaneLife& lane);
  void check_values(const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values) const;
  void check_held(const Disks& disks, SnapshotId id, Timeline timeline) const;
  void check_base(const Disks& disks, const CopyPlace& place, const Ledger& before, const Ledger& ledger);
  void follow_timeline(const Disks& disks, const Ledger& ledger);
  void check_torn(const Ledger& before, const Ledger& ledger) const;
  void check_complete(const Disks& disks, const Ledger& ledger);
  void note_facts(const Ledger& ledger);

  const LifeSpec& life_;
  NonFinite policy_;
  Course course_;
  Timelines timelines_;
  Timeline gone_back_ = 0;  // the newest that began before the newest complete snapshot
  RepliesJudge replies_;
  OrdersJudge orders_;
  SnapshotOrders snapshots_;
  SlotAccounts accounts_;
  CopiesJudge copies_;
  PresenceJudge presence_;
  ProvenanceJudge provenance_;
  PauseJudge pause_;
  DeparturesJudge departures_;
  StopJudge stop_;
  RollbackCountsJudge rollback_counts_;
  FactSet facts_;
};

}  // namespace ballast::simulation
