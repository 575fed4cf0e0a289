// Every message of the protocol, as plain values. The wire layer (common/wire) encodes them; the cores exchange them.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/protocol/ids.h"

namespace ballast {

// Where a worker's last finished step went; microseconds. Travels with every contribution and heartbeat.
struct PhaseTimes {
  std::uint64_t data_wait = 0;  // waiting for examples
  std::uint64_t pull = 0;       // from choosing the step until every chunk of its version was there
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  std::uint64_t push = 0;  // from the end of compute to the last receipt of the step
  bool operator==(const PhaseTimes&) const = default;
};

// What a step's update needs beside the gradient; computed once, by the lead.
struct StepFactors {
  float learning_rate = 0;
  bool operator==(const StepFactors&) const = default;
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
  Version version = 0;
  std::vector<ChunkId> chunks;
  bool operator==(const Pull&) const = default;
};

// A contribution; its payload frame is the sum over `node` of the chunk's gradient.
struct Push {
  Timeline timeline = 0;  // of the weights it was computed from
  Step step = 0;
  ChunkId chunk = 0;
  Node node;
  bool want_next = false;  // also pulls version step + 1 of this chunk
  PhaseTimes phases;
  bool operator==(const Push&) const = default;
};

// ---- lane to worker

struct LaneWelcome {
  Timeline timeline = 0;
  Incarnation incarnation = 0;
  std::uint64_t credit_bytes = 0;  // payload bytes the worker may have sent without a receipt
  bool operator==(const LaneWelcome&) const = default;
};

enum class ReceiptOutcome : std::uint8_t { accepted, duplicate };

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
  incarnation,      // a shard's life that the timeline does not list
};

// The message was refused and changed nothing.
struct Refused {
  RefusalCode code = RefusalCode::malformed;
  std::string text;
  bool operator==(const Refused&) const = default;
};

// ---- worker to lead

struct WorkerHello {
  std::string name;
  bool operator==(const WorkerHello&) const = default;
};

struct Heartbeat {
  std::uint64_t order = 0;  // the newest Assign that arrived
  Step step = 0;            // the next step the worker means to compute
  bool ready = false;       // data and model are loaded
  bool idle = false;        // nothing to do: wants work
  std::string fingerprint;  // of its arithmetic and data; empty until ready
  PhaseTimes phases;
  std::uint64_t slots = 0;  // computed in this session
  bool operator==(const Heartbeat&) const = default;
};

struct EvaluationResult {
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
  std::string address;
  bool operator==(const LaneAddress&) const = default;
};

struct WorkerWelcome {
  std::string job;  // the effective job file
  std::string spec_digest;
  std::string layout_digest;
  std::uint32_t shards = 0;
  std::uint32_t lanes = 0;
  std::vector<LaneAddress> addresses;
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

// Evaluate examples [begin, end) of the test split on `version`.
struct Evaluation {
  std::uint32_t item = 0;
  Version version = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Evaluation&) const = default;
};

// All that a session has to do. A newer order replaces an older one, but steps before `standing.from` keep the ranges
// they had.
struct Assign {
  std::uint64_t order = 0;
  Timeline timeline = 0;
  Generation generation = 0;
  Standing standing;
  std::optional<Extra> extra;
  std::optional<Evaluation> evaluation;
  bool operator==(const Assign&) const = default;
};

// ---- lane to lead

struct ShardHello {
  LaneId lane;
  std::uint32_t shards = 0;
  std::uint32_t lanes = 0;
  Incarnation incarnation = 0;
  std::string spec_digest;
  std::string layout_digest;
  std::string address;  // where workers reach the lane
  bool operator==(const ShardHello&) const = default;
};

struct SessionSlots {
  SessionId session = 0;
  std::uint64_t slots = 0;  // slots of closed rounds that this session's contributions became part of
  bool operator==(const SessionSlots&) const = default;
};

struct LaneReport {
  LaneId lane;
  Incarnation incarnation = 0;
  std::uint64_t sequence = 0;  // increases; an older report is ignored
  Timeline timeline = 0;
  bool serving = false;
  Step open_step = 0;                  // the oldest version among the lane's chunks
  std::vector<std::uint64_t> missing;  // slots of open_step that some chunk lacks, 64 to a word
  Step planned = 0;                    // factors are known for steps before this one
  std::vector<StepStatistics> statistics;
  std::vector<SessionSlots> slots_by_session;  // only of the lane that owns the statistics chunk
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;
  bool persisted = false;  // the final weights and `finished` are durable
  bool leaving = false;    // the lead's Finish arrived: this is the last word
  std::string failure;     // non-empty: the shard cannot go on
  bool operator==(const LaneReport&) const = default;
};

// ---- lead to lane

// The timeline is durable in the ledger; addressed to one incarnation.
struct Confirm {
  Incarnation incarnation = 0;
  Timeline timeline = 0;
  Step base = 0;
  bool operator==(const Confirm&) const = default;
};

// Factors of steps [first, first + factors.size()); also the lead's sign of life.
struct Plan {
  Timeline timeline = 0;
  Step first = 0;
  std::vector<StepFactors> factors;
  Step statistics_through = 0;  // statistics of steps before this one have arrived
  bool operator==(const Plan&) const = default;
};

// Make the final weights at `step` and the word `finished` durable.
struct Persist {
  Timeline timeline = 0;
  Step step = 0;
  bool operator==(const Persist&) const = default;
};

// ---- lead to anyone

// The job is over: at `step`, or failed for the reason given.
struct Finish {
  Timeline timeline = 0;
  Step step = 0;
  std::string failure;  // empty: finished well
  bool operator==(const Finish&) const = default;
};

// ---- command line to lead and back

struct StatusRequest {
  bool last = false;  // the asker has seen the end: the lead need not linger for it
  bool operator==(const StatusRequest&) const = default;
};

struct SessionStatus {
  SessionId session = 0;
  std::string name;
  bool live = false;
  Step step = 0;
  std::uint64_t slots = 0;  // accepted
  std::string fingerprint;
  PhaseTimes phases;
  bool operator==(const SessionStatus&) const = default;
};

struct Status {
  std::string phase;  // assembling | waiting | training | evaluating | finishing | finished | failed
  std::string failure;
  Timeline timeline = 0;
  Step step = 0;
  Step steps = 0;
  std::uint64_t epoch = 0;  // whole epochs done
  Micros training = 0;      // spent since training began, until its end
  std::uint64_t examples = 0;
  double train_loss = 0;   // mean over the examples of the last whole epoch, or of the steps so far in the first
  double recent_loss = 0;  // mean over the last steps
  double test_loss = 0;
  double test_accuracy = 0;
  bool evaluated = false;
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;
  std::uint64_t lost_workers = 0;
  std::uint64_t backups = 0;
  std::vector<SessionStatus> sessions;
  bool operator==(const Status&) const = default;
};

using Message = std::variant<LaneHello, Pull, Push, LaneWelcome, Receipt, Weights, Gone, Stale, Refused, WorkerHello,
                             Heartbeat, EvaluationResult, Goodbye, WorkerWelcome, Assign, ShardHello, LaneReport,
                             Confirm, Plan, Persist, Finish, StatusRequest, Status>;

}  // namespace ballast
