// Every message of the protocol, as plain values. The wire layer (common/wire) encodes them; the cores exchange them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/ids.h"
#include "protocol/messages/lane_and_lead.h"
#include "protocol/messages/parts.h"
#include "protocol/messages/status.h"
#include "protocol/messages/trace.h"
#include "protocol/messages/worker_and_lane.h"
#include "protocol/messages/worker_and_lead.h"

namespace ballast {

// ---- to anyone

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

using Message = std::variant<LaneHello, Pull, Push, LaneWelcome, Receipt, Weights, Gone, Stale, Refused, WorkerHello,
                             Heartbeat, EvaluationResult, Goodbye, WorkerWelcome, Assign, ShardHello, LaneReport,
                             Confirm, Plan, Finish, StatusRequest, Control, Status, Offers, CallVoid, BytesReturned,
                             Call, BytesAhead, ReturnAsked, TraceAsked, TracePart>;

}  // namespace ballast
