#include "tests/simulation/judge/judge.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/judge/skips.h"
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/strangers.h"

namespace ballast::simulation {

Judge::Judge(const LifeSpec& life)
    : life_(life),
      policy_(life.non_finite),
      course_(life.items ? Course(std::in_place_type<ItemsJudge>, life)
                         : Course(std::in_place_type<RoundsJudge>, life)),
      timelines_(life),
      replies_(life),
      orders_(life),
      accounts_(life),
      copies_(life),
      presence_(life),
      provenance_(life),
      pause_(life),
      departures_(life),
      stop_(life) {}

// ---- what lanes send

void Judge::weights_sent(const Disks& disks, SessionId session, const LaneLife& lane, const Weights& header,
                         std::uint64_t bytes, Expression value) {
  timelines_.serves(lane, disks);
  if (header.timeline != lane.timeline || header.incarnation != lane.incarnation) {
    throw Violation(words_of(header) + " are sent under another timeline or by another life");
  }
  std::visit([&](const auto& course) { course.weights_sent(disks, lane.timeline, header, value); }, course_);
  replies_.sent(session, lane.process, header, bytes);
}

void Judge::receipt_sent(const Disks& disks, SessionId session, const LaneLife& lane, const Receipt& receipt,
                         const HeldPayloads& held) {
  timelines_.serves(lane, disks);
  require(receipt.timeline == lane.timeline, "a receipt of another timeline than the lane's");
  std::visit([&](auto& course) { course.receipt_sent(session, lane.timeline, receipt, held); }, course_);
}

void Judge::expired(const Disks& disks, const LaneLife& lane, const Receipt& receipt, Version base) const {
  timelines_.serves(lane, disks);
  std::get<ItemsJudge>(course_).expired(lane.timeline, receipt, base);
}

void Judge::gone_sent(const Disks& disks, const LaneLife& lane, const Gone& gone) const {
  timelines_.serves(lane, disks);
  const auto [version, is_gone] = std::visit(
      [&](const auto& course) {
        return std::pair(course.version(lane.timeline, gone.chunk), course.is_gone(lane.timeline, gone));
      },
      course_);
  if (!is_gone || gone.newest != version || gone.timeline != lane.timeline) {
    throw Violation("chunk " + std::to_string(gone.chunk) + " is at version " + std::to_string(version) + ", yet " +
                    (gone.averages ? "the average at version " : "version ") + std::to_string(gone.version) +
                    " is said to be gone, and " + std::to_string(gone.newest) + " to be held");
  }
}

void Judge::stale_sent(const Disks& disks, const LaneLife& lane, const Stale& stale) const {
  timelines_.serves(lane, disks);
  require(stale.timeline == lane.timeline, "a lane names another timeline than its own as the current one");
}

// ---- updates

void Judge::round_applied(const Disks& disks, const LaneLife& lane, const lane::Apply& action, const HeldPayload& root,
                          const ChunkValue& result) {
  timelines_.serves(lane, disks);
  pause_.applied_round(action.step);
  departures_.applied(lane.timeline, action.step, timelines_.durable());
  const RoundUpdate update{lane.timeline, action.chunk, action.step, action.statistics, action.factors};
  for (const auto session : std::get<RoundsJudge>(course_).applied(update, root, result)) {
    accounts_.credit(lane, session);
  }
}

void Judge::item_appended(const Disks& disks, const LaneLife& lane, const lane::Append& action, const HeldPayload& held,
                          std::uint64_t sequence) {
  timelines_.serves(lane, disks);
  require(action.session == held.session, "an update is appended under another session than its own");
  items().appended({lane, held, action.version, action.factors}, action, sequence);
}

void Judge::item_applied(const Disks& disks, const LaneLife& lane, const lane::Apply& action, const HeldPayload& held,
                         const ChunkValue& result) {
  timelines_.serves(lane, disks);
  pause_.applied_item();
  departures_.applied(lane.timeline, action.version, timelines_.durable());
  require(action.statistics == (action.chunk == life_.statistics() && !action.factors.skip),
          "a chunk is taken for the statistics, or not");
  items().applied(disks, {lane, held, action.version, action.factors}, result);
  if (action.chunk == life_.statistics()) {
    accounts_.credit(lane, held.session);
  }
}

// ---- what lanes keep and say

void Judge::lane_settled(const Disks& disks, const LaneLife& lane, const HeldPayloads& held, std::size_t stated) const {
  if (held.size() != stated) {
    throw Violation("a lane's core speaks of " + std::to_string(stated) + " payloads, its shell keeps " +
                    std::to_string(held.size()) + ": a payload leaked");
  }
  if (!held.empty()) {
    timelines_.serves(lane, disks);
    std::visit([&](const auto& course) { course.settled(lane.timeline, held); }, course_);
  }
}

void Judge::reported(const Disks& disks, const LaneLife& lane, const LaneReport& report) const {
  check_claims(life_, disks, timelines_.durable(), lane, report);
  std::visit([&](const auto& course) { course.reported(lane, report); }, course_);
}

// ---- shards

void Judge::lane_starts(const Disks& disks, const LaneLife& lane) {
  timelines_.lane_starts(lane);
  const auto& disk = disks.of(lane.lane / life_.lanes, lane.database.database);
  std::visit([&](auto& course) { course.lane_starts(disk, timelines_.durable().timeline); }, course_);
  accounts_.lane_starts(lane);
}

void Judge::check_values(const LaneLife& lane, SnapshotId base, const std::map<ChunkId, ChunkValue>& values) const {
  std::visit(
      [&](const auto& course) {
        for (const auto& [chunk, value] : values) {
          if (!(value == course.value(lane.timeline, base.step, chunk))) {
            throw Violation("chunk " + std::to_string(chunk) + " of the snapshot from which timeline " +
                            std::to_string(lane.timeline) + " goes on differs from the reference");
          }
        }
      },
      course_);
}

// Who was displaced may begin an older timeline.
void Judge::note_serving(const LaneLife& lane) {
  if (timelines_.is_present(lane)) {
    accounts_.serves(lane, timelines_.finish_recorded());
  }
}

void Judge::began(const Disks& disks, const LaneLife& lane, SnapshotId base,
                  const std::map<ChunkId, ChunkValue>& values) {
  note_serving(lane);
  require(base == timelines_.serves(lane, disks).base, "a lane begins a timeline at another base than the ledger's");
  std::visit([&](auto& course) { course.lane_began(lane, base.step); }, course_);
  check_values(lane, base, values);
  timelines_.has_base(lane);
}

void Judge::resumed(const Disks& disks, const LaneLife& lane, SnapshotId base,
                    const std::map<ChunkId, ChunkValue>& values, const std::vector<JournalRecord>& records) {
  note_serving(lane);
  timelines_.serves(lane, disks);
  check_values(lane, base, values);
  items().recovered(lane, base.step, disks.of(lane.lane / life_.lanes, lane.database.database).journal, records);
}

void Judge::lost(const Disks& disks, std::uint32_t shard) { items().lost(shard, disks.present[shard]); }

void Judge::snapshot_taken(const Disks& disks, const LaneLife& lane, SnapshotId id, ChunkId chunk,
                           const ChunkValue& value) const {
  timelines_.serves(lane, disks);
  snapshots_.taken(lane, id);
  std::visit([&](const auto& course) { course.snapshot_taken(id, chunk, value); }, course_);
}

// ---- workers

void Judge::computes(Timeline timeline, Step step, const std::vector<SlotRange>& ranges, Expression weights) const {
  check_ranges(life_, step, ranges);
  std::get<RoundsJudge>(course_).computes(timeline, step, weights);
}

void Judge::evaluates(Timeline timeline, const Evaluation& evaluation, Expression weights) const {
  std::visit([&](const auto& course) { course.evaluates(timeline, evaluation, weights); }, course_);
}

// ---- the lead

void Judge::lead_starts(Micros now) {
  orders_.lead_starts();
  presence_.lead_starts(now);
  stop_.lead_starts();
  pause_.lead_starts();
  timelines_.ledger_heard();  // it has read it
  provenance_.lead_starts();
  rollback_counts_.lead_starts();
  std::visit([](auto& course) { course.lead_starts(); }, course_);
}

void Judge::assigned(SessionId session, const Assign& assign) {
  stop_.assigned(session, assign);
  if (!assign.rounds.standing.slots.empty() || assign.rounds.now || assign.evaluation || !assign.items.grants.empty()) {
    provenance_.works(session);
  }
  orders_.assigned(session, assign, timelines_.durable().timeline);
  rollback_counts_.assigned(assign, timelines_.durable().base.step);
  std::visit([&](auto& course) { course.assigned(session, assign); }, course_);
}

void Judge::confirmed(std::uint32_t shard, const Confirm& confirm) {
  presence_.confirmed(shard, timelines_.durable().databases.at(shard).database);
  timelines_.confirmed(shard, confirm);
  std::visit([&](const auto& course) { course.confirmed(confirm); }, course_);
}

void Judge::planned(const Plan& plan) {
  require(plan.timeline == timelines_.durable().timeline, "a plan of a timeline that is not the durable ledger's");
  require(plan.first + plan.factors.size() <= life_.updates(life_.steps), "a plan beyond the job's end");
  require(std::ranges::all_of(plan.barred, [](SessionId session) { return session >= kFirstImpostor; }),
          "an honest session is barred");
  std::visit([&](auto& course) { course.planned(plan); }, course_);
  timelines_.planned(plan);
  snapshots_.planned(plan);
  pause_.planned(plan);
  departures_.planned(plan, timelines_.durable());
}

// Whatever the reports look like: the versions themselves say it.
void Judge::check_torn(const Ledger& before, const Ledger& ledger) const {
  require(ledger.rollbacks.torn == before.rollbacks.torn || std::get<RoundsJudge>(course_).was_torn(before.timeline),
          "the job goes back for versions that were never more than one apart");
}

void Judge::said_finished(const Finish& finish) const {
  require(timelines_.durable().finished == SnapshotId{finish.timeline, finish.step},
          "the end is said before it is durable");
}

// ---- the ledger

void Judge::timeline_wanted(const Disks& disks) {
  std::visit([&](auto& course) { course.timeline_wanted(disks); }, course_);
}

void Judge::ledger_given(const Ledger& ledger) {
  pause_.ledger_given();
  std::visit([&](auto& course) { course.ledger_given(ledger); }, course_);
}

void Judge::ledger_durable(const Disks& disks, const CopyPlace& place, const StoredLedger& stored, Micros now) {
  const auto& ledger = stored.ledger;
  const auto& before = timelines_.durable();
  pause_.ledger_durable(ledger);
  provenance_.ledger_durable(ledger);
  const auto furthest = reached().version;
  departures_.ledger_durable(before, ledger, furthest);
  rollback_counts_.ledger_durable(before, stored, departures_.may_be_held(before, furthest),
                                  life_.faults.torn_roots > 0);
  check_torn(before, ledger);
  for (std::uint32_t shard = 0; shard < ledger.databases.size(); ++shard) {
    const auto listed = shard < before.databases.size() ? before.databases[shard].database : 0;
    presence_.listed(shard, listed, ledger.databases[shard].database, now);
  }
  if (ledger.timeline == 0) {
    require(ledger.complete.empty() && before.timeline == 0, "a ledger without a timeline");
    return timelines_.became_durable(ledger);
  }
  check_skipped(life_, policy_, ledger);
  std::visit([&](auto& course) { course.ledger_durable(ledger); }, course_);
  check_base(disks, place, before, ledger);
  follow_timeline(disks, ledger);
  std::visit([&](auto& course) { course.check_cut(disks, ledger); }, course_);
  check_complete(disks, ledger);
  check_log(life_, stored);
  check_end(before, ledger);
  std::visit(
      [&](const auto& course) {
        course.check_logs(stored);
        if (ledger.finished) {
          course.check_end(ledger.finished->step);
        }
      },
      course_);
  copies_.ledger_durable(disks, place, before, ledger, now);
  note_facts(ledger);
  timelines_.became_durable(ledger);
}

// Further back than the newest complete snapshot only to one that each shard has, or can get.
void Judge::check_base(const Disks& disks, const CopyPlace& place, const Ledger& before, const Ledger& ledger) {
  if (ledger.timeline == before.timeline || before.complete.empty() || ledger.base >= before.complete.back()) {
    return;
  }
  facts_.note(Fact::went_further_back);
  gone_back_ = ledger.timeline;
  require(ledger.base != SnapshotId{}, "a job that had a snapshot begins anew");
  for (ChunkId chunk = 0; chunk < life_.statistics(); ++chunk) {
    const auto shard = life_.chunks[chunk].lane / life_.lanes;
    require(disks.present[shard].durable(ledger.base, chunk) != nullptr || place.has(kNamedRun, ledger.base, shard),
            "a job goes back to a snapshot that a shard neither has nor can get");
  }
  const auto sets = place.whole_sets(kNamedRun);
  const auto newest = std::ranges::find_if(sets.rbegin(), sets.rend(), [&](SnapshotId id) {
    const auto may_be = id < before.complete.back() && id <= before.copies.complete;  // whole for some time
    for (std::uint32_t shard = 0; may_be && shard < life_.shards; ++shard) {
      if (place.undamaged(kNamedRun, id, shard) == nullptr) {
        return false;
      }
    }
    return may_be;
  });
  require(newest == sets.rend() || ledger.base >= *newest, "a job goes back further than it has to");
}

// By the word of an older timeline a shard may delete what the job goes back to: only what it can get again.
void Judge::deletes(const CopyPlace& place, std::uint32_t shard, SnapshotId id, Timeline timeline) const {
  const auto& durable = timelines_.durable();
  if (timeline < gone_back_) {
    require(!is_listed(durable, id) || place.has(kNamedRun, id, shard),
            "a shard deletes what the job goes back to, and cannot get it again");
    return;
  }
  check_deletion(durable, shard, id);
}

void Judge::follow_timeline(const Disks& disks, const Ledger& ledger) {
  switch (timelines_.follow(ledger)) {
    case Timelines::Change::none:
      return;
    case Timelines::Change::lives:
      if (timelines_.lists_a_life_that_is_over(ledger)) {
        items().cannot_resume();
      }
      facts_.note(Fact::resumed_within);
      return;
    case Timelines::Change::begins:
      std::visit([&](auto& course) { course.timeline_begins(disks, ledger.timeline, ledger.base); }, course_);
      check_held(disks, ledger.base, ledger.timeline);
  }
}

void Judge::check_complete(const Disks& disks, const Ledger& ledger) {
  check_listed(life_, ledger);
  for (const auto id : ledger.complete) {
    check_held(disks, id, ledger.timeline);
    if (id.timeline == ledger.timeline) {
      std::visit([&](auto& course) { course.completed(id); }, course_);
    }
  }
}

void Judge::check_held(const Disks& disks, SnapshotId id, Timeline timeline) const {
  const bool is_base = life_.restores && id == timelines_.of(timeline).base;
  const auto is_fit = [&](const Disk& disk) {
    if (disk.was_lost || (is_base && disk.served < timeline)) {
      return false;  // it is still to get the base from the copies
    }
    return id != SnapshotId{} || !provenance_.is_unfit(disk.initial_weights);  // of a life that is refused
  };
  const auto expected = [&](ChunkId chunk) {
    return std::visit([&](const auto& course) { return course.value(timeline, id.step, chunk); }, course_);
  };
  check_stored(life_, disks, id, is_fit, expected);
}

void Judge::note_facts(const Ledger& ledger) {
  const auto& before = timelines_.durable();
  facts_.note(Fact::rollback, ledger.timeline > before.timeline && ledger.base.step > 0);
  facts_.note(Fact::snapshot_missed, ledger.snapshots_missed > 0);
  facts_.note(Fact::kept_best, ledger.best.has_value());
  facts_.note(Fact::early_stop, ledger.finished && ledger.finished->step < life_.steps);
  facts_.note(Fact::skipped, ledger.skipped != before.skipped && ledger.timeline == before.timeline);
}

FactSet Judge::facts() const {
  auto facts = facts_;
  facts.add(copies_.facts());
  facts.add(rollback_counts_.facts());
  facts.add(std::visit([](const auto& course) { return course.facts(); }, course_));
  return facts;
}

// ---- the user

void Judge::commanded(Control::Command command, Lead::Phase phase) {
  pause_.commanded(command);
  stop_.commanded(command, phase, reached());
}

StopJudge::Reached Judge::reached() const {
  const auto timeline = timelines_.durable().timeline;
  StopJudge::Reached reached{timeline, 0};
  for (ChunkId chunk = 0; timeline > 0 && chunk < life_.chunks.size(); ++chunk) {
    reached.version = std::max(
        reached.version, std::visit([&](const auto& course) { return course.accepted(timeline, chunk); }, course_));
  }
  return reached;
}

void Judge::resumes_with(NonFinite policy) {
  policy_ = policy;
  std::visit([&](auto& course) { course.resumes_with(policy); }, course_);
}

void Judge::resumes_with_snapshots(Step every) {
  std::visit([&](auto& course) { course.resumes_with_snapshots(every); }, course_);
}

void Judge::stopped(Lead::Phase before, const Status& status, Micros now, bool copies_excused) const {
  stop_.stopped(before, status, timelines_.durable(), reached());
  if (life_.copies && !copies_excused && !stop_.is_patience_over() && before >= Lead::Phase::confirming) {
    copies_.stopped_well(timelines_.durable(), now);
  }
}

// ---- the end

void Judge::finished_well(const Disks& disks, const CopyPlace& place, const Status& status, const StoredLedger& stored,
                          bool copies_excused) const {
  require(timelines_.finish_recorded(), "the lead left without having recorded the end");
  const auto& ledger = timelines_.durable();
  std::visit([&](const auto& course) { course.check_evaluations(stored); }, course_);
  check_held(disks, *ledger.finished, ledger.timeline);
  if (life_.copies && !copies_excused && !stop_.gave_up_copy()) {
    copies_.finished_well(place, ledger);
  }
  check_told(life_, status, stored, ledger.finished->step);
  accounts_.check(status);
}

void Judge::stopped_well(const StoredLedger& stored, bool out_of_patience) const {
  // A lead without patience may not have heard yet that the end is in its ledger: the next run says that it has
  // finished.
  require(!timelines_.finish_recorded() || out_of_patience, "a job that has finished is said to be stopped");
  require(stored.ledger.timeline == 0 || !stored.ledger.complete.empty(), "a stopped job has no snapshot");
}

}  // namespace ballast::simulation
