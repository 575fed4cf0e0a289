// Between workers and the lead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages/parts.h"

namespace ballast {

// ---- worker to lead

struct WorkerHello {
  std::string name;
  bool operator==(const WorkerHello&) const = default;
};

// How far a session is with its slots, and how fast it is. In rounds; spans in microseconds, ended now.
struct SlotProgress {
  Step step = 0;                      // that the slots below are of: the newest it has begun
  std::vector<SlotRange> computed;    // in this session, the slot in hand aside; ascending
  Slot in_hand = kNoSlot;             // being computed
  std::uint64_t in_hand_for = 0;      // since it was begun
  std::uint64_t begun = 0;            // since the session's first slot of the step was
  std::uint64_t slot_time = 0;        // the median of the last slots; 0: none was computed yet
  std::uint64_t up = 0;               // bytes a second that its contributions get through; 0: not known yet
  std::uint64_t down = 0;             // and the weights that it asked for
  std::uint64_t without_receipt = 0;  // bytes of contributions, sent or not
  bool leaving = false;               // it begins no other slot, and goes when its contributions have arrived
  bool operator==(const SlotProgress&) const = default;
};

struct Heartbeat {
  Timeline timeline = 0;    // of the newest WorkerWelcome that arrived
  LeadNumber order = {};    // the newest Assign that arrived
  Step step = 0;            // the next step the worker means to compute
  bool ready = false;       // data and model are loaded
  bool idle = false;        // nothing to do: wants work
  std::string waits_for;    // lanes that do not let it begin; empty if none
  std::string fingerprint;  // of its arithmetic; empty until ready
  std::string data_digest;  // of its data set and of examples as it decodes them; empty until ready
  PhaseTimes phases;
  std::uint64_t slots = 0;                 // computed in this session
  std::uint64_t placement = 0;             // of the newest WorkerWelcome that arrived
  std::vector<LeadNumber> delivered = {};  // clocks of the grants of `order` for which every receipt has arrived
  std::vector<LeadNumber> dropped = {};    // of those that the worker has given up: some chunk refused theirs for good
  SlotProgress progress = {};
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
  std::vector<std::uint64_t> counts = {};  // as the job's MetricRules say
  std::vector<double> sums = {};
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

// Compute `slots` of this one step as well: what protocol version 13 has in the place of a StepWork.
struct Extra {
  Step step = 0;
  SlotRange slots;
  bool operator==(const Extra&) const = default;
};

// Of this one step, the oldest that is open, compute these instead, in this order, or, `as_well`, before the standing
// range that it has: so says a lead of protocol version 13. What is left of steps before it is nobody's work.
struct StepWork {
  Step step = 0;
  std::vector<SlotRange> ranges;  // disjoint
  bool as_well = false;
  bool operator==(const StepWork&) const = default;
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
  LeadNumber clock = {};  // the lead's count of grants: no two have the same
  bool operator==(const Grant&) const = default;
};

// What a session has to compute in rounds.
struct RoundOrder {
  Standing standing;
  std::optional<StepWork> now = {};
  bool operator==(const RoundOrder&) const = default;
};

// What it has to compute in item mode, in this order.
struct ItemOrder {
  std::vector<Grant> grants;
  bool operator==(const ItemOrder&) const = default;
};

// All that a session has to do. An order of a newer timeline, or of the same with a higher number, replaces an older
// one, but steps before `rounds.standing.from` keep the ranges they had.
struct Assign {
  LeadNumber order = {};
  Timeline timeline = 0;
  Generation generation = 0;
  std::optional<Evaluation> evaluation = {};
  RoundOrder rounds = {};
  ItemOrder items = {};
  // Microseconds that the session's heartbeats are apart at least: many others speak, too.
  std::uint64_t beats_apart = 0;
  bool operator==(const Assign&) const = default;
};

}  // namespace ballast
