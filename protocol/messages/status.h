// Between the command line and the lead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/job_phase.h"
#include "protocol/messages/lane_and_lead.h"
#include "protocol/messages/parts.h"
#include "protocol/metrics.h"
#include "protocol/rollbacks.h"

namespace ballast {

struct StatusRequest {
  bool last = false;  // the asker has seen the end: the lead need not linger for it
  bool operator==(const StatusRequest&) const = default;
};

// Answered by a Status. A job that is paused holds at a snapshot until it is resumed.
struct Control {
  enum class Command : std::uint8_t { stop, pause, resume };
  Command command = Command::stop;
  bool operator==(const Control&) const = default;
};

struct SessionStatus {
  SessionId session = 0;
  std::string name;
  bool live = false;
  Step step = 0;
  std::uint64_t slots = 0;  // accepted
  std::string fingerprint;
  std::string refusal;  // why it is given no work; empty: it is given some
  PhaseTimes phases;
  std::uint64_t overtaken = 0;  // microseconds for which it has had what others have brought since; 0: it has not
  std::string held_up = {};     // why it is not counted on; empty: it is. This and the following in rounds alone
  std::uint64_t slot_time = 0;  // of one slot, microseconds, as the lead has learnt it; 0: not known
  std::uint64_t lag = 0;        // from a step's opening to its first slot, microseconds
  std::uint64_t up = 0;         // bytes a second that its contributions get through; 0: not known
  std::uint64_t down = 0;       // and its weights
  Slot share = 0;               // slots of its standing range
  bool said_goodbye = false;    // of one that is over: else it was lost
  bool operator==(const SessionStatus&) const = default;
};

struct SplitStatus {
  bool evaluated = false;
  Step step = 0;
  double loss = 0;
  double accuracy = 0;
  bool operator==(const SplitStatus&) const = default;
};

struct CopyStatus {
  bool kept = false;         // the job keeps copies
  RunId run = 0;             // under whose name they are
  Step copied = 0;           // the newest snapshot of which all shards have copied their parts; 0: none
  Step copying = 0;          // the one that they copy now; 0: none
  std::uint32_t shards = 0;  // that have copied their part of it
  std::uint32_t of = 0;      // shards
  std::uint64_t bytes = 0;   // that the others have written of theirs
  bool awaited = false;      // the job ends when the newest snapshot is copied
  bool operator==(const CopyStatus&) const = default;
};

// How a job stands, a field a fact: more than 15, for people ask for all of them.
struct Status {
  std::string job;  // its name, as in its file
  JobPhase phase = JobPhase::assembling;
  std::string failure;
  std::string waits_for;  // who keeps the job from going on, if somebody does
  std::string trouble;    // what is wrong though the job goes on, e.g. a disk that is full
  // What is wrong with the job's bits, though nothing waits for it: another arithmetic at work, a worker refused.
  std::string bits_trouble;
  Timeline timeline = 0;
  SnapshotId base;    // of the timeline
  Step snapshot = 0;  // the newest complete one
  CopyStatus copies;
  Step step = 0;
  // Of what was applied some is in no complete snapshot; journals may hold it. Not said of what was on its way when a
  // pause or a stop had its own.
  bool beyond_snapshot = false;
  Step steps = 0;
  std::uint64_t epoch = 0;          // whole epochs done
  std::uint64_t epochs = 0;         // of the whole job; the last one may be cut short
  std::uint32_t start_workers = 0;  // so many are waited for before training begins
  Micros training = 0;              // spent since this lead began to train, until its end, without the time of pauses
  std::uint64_t examples = 0;
  double examples_per_second = 0;  // over the last seconds of that time; 0: not known
  double steps_per_second = 0;     // likewise
  double learning_rate = 0;        // of the newest step whose factors are known
  double gradient_norm = 0;        // of the newest decided step; 0 unless the job clips by global norm
  double train_loss = 0;   // mean over the examples of the last whole epoch, or of the steps so far in the first
  double recent_loss = 0;  // mean over the last steps
  SplitStatus validation;
  SplitStatus test;
  SplitStatus best;  // validation, by training.best_by
  std::vector<Metric> validation_metrics;
  std::vector<Metric> test_metrics;
  std::vector<Metric> best_metrics;
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;
  std::uint64_t lost_workers = 0;
  std::uint64_t refused_workers = 0;  // sessions, for other data or another arithmetic, by this lead
  std::uint64_t backups = 0;
  std::uint64_t rollbacks = 0;          // of the whole job, by the ledger
  RollbackCounts rollback_causes;       // of each
  std::uint64_t rolled_back_steps = 0;  // trained again because of them; at least so many
  std::uint64_t skipped_steps = 0;      // for gradients that were not finite
  std::uint64_t snapshots_missed = 0;   // due while another one was being written
  std::uint64_t resumed_shards = 0;     // that came back within a timeline
  StalenessCounts staleness;            // over all shards' chunks
  Told data;                            // the digest that counts; empty: no worker has been ready yet
  std::vector<Told> arithmetics;        // each kind of arithmetic that the job was given to; the first one counts
  std::vector<SessionStatus> sessions;
  std::string mode;                    // of the job, as in its file
  std::uint64_t slots_taken = 0;       // given to another session, so that a step ends sooner
  std::uint64_t slots_reassigned = 0;  // of sessions that were lost or not counted on, given to others
  std::uint64_t slots_tried = 0;  // given as trials to sessions without credit or a share: their holders have them too
  bool operator==(const Status&) const = default;
};

// For people and programs, who need not know which is which.
inline std::string all_trouble(const Status& status) {
  const bool both = !status.trouble.empty() && !status.bits_trouble.empty();
  return status.trouble + (both ? "; " : "") + status.bits_trouble;
}

}  // namespace ballast
