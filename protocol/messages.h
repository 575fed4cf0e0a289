// Every message of the protocol, as plain values. The wire layer (common/wire) encodes them; the cores exchange them.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/ids.h"
#include "protocol/job_phase.h"

namespace ballast {

// Where a worker's last finished step went; microseconds. Travels with every contribution and heartbeat. No moment
// counts twice, but for a push that goes on while the next step is computed.
struct PhaseTimes {
  std::uint64_t data_wait = 0;  // waiting for examples
  // Waiting for weights and for nothing else: from choosing the step, or from the last receipt of the one before if
  // that came later, until every chunk of its version was there.
  std::uint64_t pull = 0;
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  std::uint64_t push = 0;  // from the end of compute until nothing of the step was without a receipt
  bool operator==(const PhaseTimes&) const = default;
};

// What a step's update needs beside the gradient; computed once, by the lead, so that no two processors' arithmetic
// need agree.
struct StepFactors {
  float learning_rate = 0;
  float step_size = 0;           // learning_rate, divided by 1 - beta1^t where the optimizer corrects its first moment
  float second_moment_root = 1;  // sqrt(1 - beta2^t) where it corrects its second
  bool skip = false;             // the step leaves all weights and all state as they are
  std::vector<float> scales;     // of the gradient: none (1), one for all of it, or one for each parameter
  bool operator==(const StepFactors&) const = default;
};

// A property of the job's bits that workers or shards tell, and who told it first.
struct Told {
  std::string value;
  std::string by;  // "worker a", "shard 1", or the key of the job file that says it
  bool operator==(const Told&) const = default;
};

struct DecidedStep {
  Step step = 0;
  StepFactors factors;
  bool operator==(const DecidedStep&) const = default;
};

// What the decision on a step needs to know of one covered chunk.
struct ChunkMeasure {
  ChunkId chunk = 0;
  Step step = 0;
  std::vector<double> sums;     // of the gradient's squares: of the chunk, or of each parameter's piece of it, in order
  bool finite = true;           // the chunk's gradient has no infinity and no NaN
  std::uint32_t parameter = 0;  // if not finite: the parameter of the first such element, by its index in the model
  Slot slot = kNoSlot;  // if not finite: the first slot to blame; kNoSlot: only the sum over the slots overflows
  bool operator==(const ChunkMeasure&) const = default;
};

// The root of the statistics chunk: sums over the step's examples.
struct StepStatistics {
  Step step = 0;
  float loss = 0;  // the mean over the step's examples
  float correct = 0;
  float examples = 0;
  bool operator==(const StepStatistics&) const = default;
};

// ---- worker to lane

struct LaneHello {
  std::string name;  // of the worker, for metrics
  std::string spec_digest;
  std::string layout_digest;
  bool operator==(const LaneHello&) const = default;
};

struct Pull {
  Timeline timeline = 0;
  Version version = 0;  // or kNewestVersion
  std::vector<ChunkId> chunks;
  std::uint64_t ticket = 0;  // comes back with the weights
  bool operator==(const Pull&) const = default;
};

// Of a contribution in item mode.
struct ItemPush {
  Version base = 0;                // the chunk's version that it was computed from
  std::uint64_t ticket = 0;        // want_next pulls the newest version with this ticket
  std::vector<JournalMark> marks;  // in a journaled job, of all weights that it was computed from
  bool operator==(const ItemPush&) const = default;
};

// A contribution; its payload frame is the sum over `node` of the chunk's gradient.
struct Push {
  Timeline timeline = 0;  // of the weights it was computed from
  Step step = 0;
  ChunkId chunk = 0;
  Node node;
  bool want_next = false;  // also pulls version step + 1 of this chunk
  Slot fault = kNoSlot;    // the first slot below `node` whose gradient of this chunk is not finite
  PhaseTimes phases;
  ItemPush items = {};  // in rounds empty
  bool operator==(const Push&) const = default;
};

// ---- lane to worker

struct LaneWelcome {
  Timeline timeline = 0;
  Incarnation incarnation = 0;
  std::uint64_t credit_bytes = 0;  // payload bytes the worker may have sent without a receipt
  bool operator==(const LaneWelcome&) const = default;
};

enum class ReceiptOutcome : std::uint8_t {
  accepted,
  duplicate,
  expired,  // computed from weights older than the job's bound allows, and dropped
};

// The work of (timeline, step, chunk, node) need not be repeated while the shard lives.
struct Receipt {
  Timeline timeline = 0;
  Step step = 0;
  ChunkId chunk = 0;
  Node node;
  ReceiptOutcome outcome = ReceiptOutcome::accepted;
  bool operator==(const Receipt&) const = default;
};

// Its payload frame is the chunk's weights at `version`.
struct Weights {
  Timeline timeline = 0;
  Incarnation incarnation = 0;
  ChunkId chunk = 0;
  Version version = 0;
  std::uint64_t ticket = 0;    // of the pull
  std::uint64_t sequence = 0;  // in a journaled job: what the shard's journal had committed, as far as the lane knows
  bool operator==(const Weights&) const = default;
};

// `version` of the chunk is no longer held; the chunk is at version `held`.
struct Gone {
  Timeline timeline = 0;
  ChunkId chunk = 0;
  Version version = 0;
  Version held = 0;
  bool operator==(const Gone&) const = default;
};

// The message belonged to an older timeline than the current one, which is named.
struct Stale {
  Timeline timeline = 0;
  bool operator==(const Stale&) const = default;
};

enum class RefusalCode : std::uint8_t {
  malformed,        // not a message of this protocol, or its parts contradict each other
  wrong_protocol,   // another protocol version
  unknown_session,  // say hello first
  wrong_job,        // another job or another layout
  wrong_target,     // a chunk, shard or message that is not the receiver's
  out_of_range,     // a step, node or size that cannot be
  not_serving,      // ask again later
  too_many,         // no place for another session
  not_taken,        // a shard's life that cannot be the shard's now, for the reason told; it asks again
  wrong_bits,       // other data, initial weights or arithmetic than the job's
};

// The message was refused and changed nothing.
struct Refused {
  RefusalCode code = RefusalCode::malformed;
  std::string text;
  std::string job = {};  // the lead's effective job file, for a shard of another one; else empty
  bool operator==(const Refused&) const = default;
};

// ---- worker to lead

struct WorkerHello {
  std::string name;
  bool operator==(const WorkerHello&) const = default;
};

struct Heartbeat {
  Timeline timeline = 0;    // of the newest WorkerWelcome that arrived
  std::uint64_t order = 0;  // the newest Assign that arrived
  Step step = 0;            // the next step the worker means to compute
  bool ready = false;       // data and model are loaded
  bool idle = false;        // nothing to do: wants work
  std::string waits_for;    // lanes that do not let it begin; empty if none
  std::string fingerprint;  // of its arithmetic; empty until ready
  std::string data_digest;  // of its data set and of examples as it decodes them; empty until ready
  PhaseTimes phases;
  std::uint64_t slots = 0;                    // computed in this session
  std::uint64_t placement = 0;                // of the newest WorkerWelcome that arrived
  std::vector<std::uint64_t> delivered = {};  // clocks of the grants of `order` for which every receipt has arrived
  bool operator==(const Heartbeat&) const = default;
};

enum class Split : std::uint8_t { validation, test };

struct EvaluationResult {
  Timeline timeline = 0;
  Split split = Split::test;
  std::uint32_t item = 0;
  Version version = 0;
  double loss_sum = 0;
  std::uint64_t correct = 0;
  std::uint64_t examples = 0;
  bool operator==(const EvaluationResult&) const = default;
};

struct Goodbye {
  std::string reason;
  bool operator==(const Goodbye&) const = default;
};

// ---- lead to worker

struct LaneAddress {
  LaneId lane;
  Incarnation incarnation = 0;
  std::string address;
  bool operator==(const LaneAddress&) const = default;
};

// Said again when a new timeline has begun, or a shard has come back within one: lanes may live elsewhere.
struct WorkerWelcome {
  Timeline timeline = 0;
  std::string job;  // the effective job file
  std::string spec_digest;
  std::string layout_digest;
  std::uint32_t shards = 0;
  std::uint32_t lanes = 0;
  std::vector<LaneAddress> addresses;
  std::uint64_t placement = 0;  // increases when a shard's life changes
  bool operator==(const WorkerWelcome&) const = default;
};

// Compute `slots` of every step in [from, until).
struct Standing {
  Step from = 0;
  Step until = 0;
  SlotRange slots;
  bool operator==(const Standing&) const = default;
};

// Compute `slots` of this one step as well.
struct Extra {
  Step step = 0;
  SlotRange slots;
  bool operator==(const Extra&) const = default;
};

// Evaluate examples [begin, end) of the split on `version`.
struct Evaluation {
  Split split = Split::test;
  std::uint32_t item = 0;
  Version version = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Evaluation&) const = default;
};

// Compute this item from weights asked for from now on.
struct Grant {
  ItemId item = 0;
  std::uint64_t clock = 0;  // the lead's count of grants: no two have the same
  bool operator==(const Grant&) const = default;
};

// What a session has to compute in rounds.
struct RoundOrder {
  Standing standing;
  std::optional<Extra> extra;
  bool operator==(const RoundOrder&) const = default;
};

// What it has to compute in item mode, in this order.
struct ItemOrder {
  std::vector<Grant> grants;
  bool operator==(const ItemOrder&) const = default;
};

// All that a session has to do. A newer order replaces an older one, but steps before `rounds.standing.from` keep the
// ranges they had.
struct Assign {
  std::uint64_t order = 0;
  Timeline timeline = 0;
  Generation generation = 0;
  std::optional<Evaluation> evaluation = {};
  RoundOrder rounds = {};
  ItemOrder items = {};
  bool operator==(const Assign&) const = default;
};

// ---- lane to lead

struct ShardHello {
  LaneId lane;
  std::uint32_t shards = 0;
  std::uint32_t lanes = 0;
  Incarnation incarnation = 0;
  DatabaseLife database;
  std::string spec_digest;
  std::string layout_digest;
  std::string initial_weights;  // digest of training.init_from's file, if this life of the shard has read it
  std::string address;          // where workers reach the lane
  Timeline timeline = 0;        // that the shard knows of: of its database, or that it serves
  Step reached = 0;             // the oldest open step of the timeline it serves; 0: it serves none
  // The snapshots, ascending, of which all of the lane's chunks are durable; the weights before step 0 if they need not
  // be kept. The newest kMaxHeld.
  std::vector<SnapshotId> held = {};
  // In a journaled job: the shard's lives in `timeline`, oldest first, this one last. Empty if what the shard has of
  // the timeline cannot be gone on with.
  std::vector<ShardLife> lives = {};
  bool operator==(const ShardHello&) const = default;
};

struct SessionSlots {
  SessionId session = 0;
  std::uint64_t slots = 0;  // slots of closed rounds that this session's contributions became part of
  bool operator==(const SessionSlots&) const = default;
};

// How stale contributions were when they were applied, and what became of the others, over a lane's chunks.
struct StalenessCounts {
  std::vector<std::uint64_t> counts;  // [0]: not at all; [i]: 2^(i-1) to 2^i - 1 updates
  std::uint64_t sum = 0;
  std::uint64_t largest = 0;
  std::uint64_t expired = 0;  // refused for it
  std::uint64_t skipped = 0;  // of those counted: left out, for their gradient was not finite
  bool operator==(const StalenessCounts&) const = default;
};

// How far a shard is with its part of the snapshot that is named for copying.
struct CopyProgress {
  RunId run = 0;               // under whose name
  SnapshotId snapshot;         // {}: it copies none
  std::uint64_t bytes = 0;     // written by the attempt at hand
  std::uint32_t failures = 0;  // attempts that failed
  bool done = false;           // its part is durable in the place
  bool taken = false;          // another job than this one goes on under the run's name there: only of shard 0
  bool operator==(const CopyProgress&) const = default;
};

struct RoundReport {
  std::vector<std::uint64_t> missing;  // slots of open_step that some chunk lacks, 64 to a word
  std::vector<DecidedStep> decided;    // by which versions that the lane still holds were made, or will be
  bool operator==(const RoundReport&) const = default;
};

struct ItemReport {
  std::vector<ItemRange> covered;  // items that all of the lane's chunks cover, ascending; the first range begins at 0
  ItemId reached = 0;              // the first item beyond all that some chunk of the lane has accepted
  StalenessCounts staleness;
  std::vector<JournalMark> marks;  // the newest of each shard's life that came with contributions
  bool operator==(const ItemReport&) const = default;
};

// How a lane stands: what both machines have, and what the job's own machine has; the other's part is empty.
struct LaneReport {
  LaneId lane;
  Incarnation incarnation = 0;
  std::uint64_t sequence = 0;  // increases; an older report is ignored
  Timeline timeline = 0;
  bool serving = false;
  Step open_step = 0;                  // the oldest version among the lane's chunks
  Version planned = 0;                 // factors are known for the updates of versions before this one
  std::vector<ChunkMeasure> measures;  // of covered chunks that are not applied yet
  std::vector<SnapshotId> held;        // snapshots of this timeline of which all of the lane's chunks are durable
  std::vector<SnapshotId> writing;     // taken or being taken, and not durable yet
  std::vector<SnapshotId> failed;      // that could not be written; the job goes on without them
  CopyProgress copy;                   // only of a shard's lane 0
  std::string trouble;                 // why not, or what else is wrong though the job goes on
  std::vector<StepStatistics> statistics;
  std::vector<SessionSlots> slots_by_session;  // only of the lane that owns the statistics chunk
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;
  bool leaving = false;  // the lead's Finish arrived, and the end is durable here: this is the last word
  std::string failure;   // non-empty: the shard cannot go on
  RoundReport rounds = {};
  ItemReport items = {};
  bool operator==(const LaneReport&) const = default;
};

// ---- lead to lane

// The timeline is durable in the ledger; addressed to one incarnation.
struct Confirm {
  Incarnation incarnation = 0;
  Timeline timeline = 0;
  SnapshotId base;
  bool resumes = false;  // go on with what the shard has of the timeline, instead of beginning it
  bool operator==(const Confirm&) const = default;
};

// Which complete snapshots are copied to another place (durability.copy_to), one after the other. {}: none, for the
// initial weights are never copied.
struct CopyState {
  RunId run = 0;           // whose copies they are; part of their names
  SnapshotId named;        // every shard is to copy its part of it
  SnapshotId complete;     // the newest of which every shard has copied its part
  std::uint64_t life = 0;  // of the lead: the copies of a run are of one line of lives, told apart from a copied job's
  std::uint64_t turn = 0;  // increases with each other life and each other run: `complete` may be older again then
  bool operator==(const CopyState&) const = default;
};
// Of all that were ever named under the run's name.
inline SnapshotId newest_named(const CopyState& copies) { return std::max(copies.named, copies.complete); }

// The factors of the updates of versions [first, first + factors.size()), and which snapshots to take; also the lead's
// sign of life. Where a step's factors depend on its gradients (norms, non-finite values), the plan ends before the
// first undecided step.
struct Plan {
  Timeline timeline = 0;
  Version first = 0;
  std::vector<StepFactors> factors;
  std::vector<Step> snapshots;   // steps, of now or later, before whose updates to take a snapshot
  std::vector<SnapshotId> keep;  // complete, by the durable ledger; older ones that are not listed may be deleted
  CopyState copies;              // by the durable ledger, too
  Step statistics_through = 0;   // statistics of steps before this one are durable
  bool operator==(const Plan&) const = default;
};

// ---- lead to anyone

enum class Ending : std::uint8_t {
  finished,  // the ledger says so; every shard makes it durable before it leaves
  stopped,   // by its user; a snapshot is complete, and the job can be resumed
  failed,    // for the reason given
};

// The run is over, at `step`.
struct Finish {
  Timeline timeline = 0;
  Step step = 0;
  Ending ending = Ending::finished;
  std::string failure;
  bool operator==(const Finish&) const = default;
};

// ---- command line to lead and back

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
  SplitStatus best;  // by validation accuracy
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;
  std::uint64_t lost_workers = 0;
  std::uint64_t refused_workers = 0;  // sessions, for other data or another arithmetic, by this lead
  std::uint64_t backups = 0;
  std::uint64_t rollbacks = 0;          // of the whole job, by the ledger
  std::uint64_t rolled_back_steps = 0;  // trained again because of them; at least so many
  std::uint64_t skipped_steps = 0;      // for gradients that were not finite
  std::uint64_t snapshots_missed = 0;   // due while another one was being written
  std::uint64_t resumed_shards = 0;     // that came back within a timeline
  StalenessCounts staleness;            // over all shards' chunks
  Told data;                            // the digest that counts; empty: no worker has been ready yet
  std::vector<Told> arithmetics;        // each kind of arithmetic that the job was given to; the first one counts
  std::vector<SessionStatus> sessions;
  std::string mode;  // of the job, as in its file
  bool operator==(const Status&) const = default;
};

// For people and programs, who need not know which is which.
inline std::string all_trouble(const Status& status) {
  const bool both = !status.trouble.empty() && !status.bits_trouble.empty();
  return status.trouble + (both ? "; " : "") + status.bits_trouble;
}

using Message = std::variant<LaneHello, Pull, Push, LaneWelcome, Receipt, Weights, Gone, Stale, Refused, WorkerHello,
                             Heartbeat, EvaluationResult, Goodbye, WorkerWelcome, Assign, ShardHello, LaneReport,
                             Confirm, Plan, Finish, StatusRequest, Control, Status>;

}  // namespace ballast
