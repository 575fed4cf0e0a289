// What the lead makes durable: the only memory of the job that outlives every process.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/rollbacks.h"

namespace ballast {

// Steps [from, until).
struct StepRange {
  Step from = 0;
  Step until = 0;
  bool operator==(const StepRange&) const = default;
  [[nodiscard]] bool contains(Step step) const { return from <= step && step < until; }
};

// Whether the user has paused the job. Only the user's word, a stop included, or the job's end takes a pause away.
enum class Pause : std::uint8_t {
  none,
  wanted,  // the job goes on to a snapshot that is not complete yet
  held,    // nothing from the newest complete snapshot on has been given out
};

// What the job's bits rest on beside its job file, as workers and shards tell it.
struct Provenance {
  Told data;                      // of the examples
  std::vector<Told> arithmetics;  // fingerprints, each with the first worker that had it; at most kMaxArithmetics
  Told initial_weights;           // of training.init_from's file
  bool operator==(const Provenance&) const = default;
};

// The job's record, small and always written whole: plain data, one field a fact, more than 15 of them. An empty one
// (timeline 0) is that of a job that never began.
struct Ledger {
  Timeline timeline = 0;
  SnapshotId base;                        // where the timeline began
  std::vector<Incarnation> incarnations;  // of the timeline's shards, by index
  std::vector<DatabaseLife> databases;    // that these have, by index
  std::vector<SnapshotId> complete;       // ascending; what is older than the newest and not listed may be deleted
  std::optional<SnapshotId> best;         // the best validation's; one of `complete`
  std::vector<StepRange> skipped;         // ascending and disjoint: steps that leave the weights as they are
  RollbackCounts rollbacks;               // of timelines in which somebody is known to have trained
  std::uint64_t rolled_back_steps = 0;    // at least
  std::uint64_t snapshots_missed = 0;
  std::optional<SnapshotId> finished;  // the job's end; one of `complete`
  Pause pause = Pause::none;
  std::uint64_t placement = 0;       // increases when one of the incarnations changes
  std::uint64_t resumed_shards = 0;  // that came back within a timeline
  Provenance provenance;
  CopyState copies = {};                       // both of `complete`
  std::uint64_t copies_in = 0;                 // tells the place that they are in from another
  std::vector<std::uint64_t> copy_lives = {};  // of leads before, as far as a place may still hold their claims
  SnapshotId named_before = {};                // the newest that was named for copying when this lead's life began
  // In item mode: each chunk has had exactly the items of the steps before it, and nobody any other. In rounds the
  // timeline's base. None in a ledger of an older program.
  std::optional<Step> cut = {};
  std::vector<Step> kept = {};  // ascending: cuts of which a snapshot is ordered, neither complete nor given up
  // For servers that were told to end: nothing from the newest complete snapshot on has been given out in this
  // timeline, nor will be. It ends with the timeline.
  bool held = false;
  bool operator==(const Ledger&) const = default;
};

struct EvaluationRecord {
  Step step = 0;  // the version evaluated
  Split split = Split::test;
  double loss = 0;      // mean over the examples
  double accuracy = 0;  // share of right answers
  std::uint64_t examples = 0;
  std::vector<Metric> metrics = {};  // others that the job's evaluations tell
  bool operator==(const EvaluationRecord&) const = default;
};

// One atomic change of what is durable: first the trimming, then the additions.
struct LedgerChange {
  Ledger ledger;
  std::optional<Step> trim_from;  // forget statistics of steps >= trim_from, evaluations of versions > trim_from
  std::vector<StepStatistics> statistics;  // new, ascending by step
  std::vector<EvaluationRecord> evaluations;
  bool operator==(const LedgerChange&) const = default;
};

}  // namespace ballast
