// What processes have measured of the job's last steps, for whoever asks. Only shells say and hear these;
// docs/tracing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// What a record is of, and what its four times are. Microseconds of the clock of the process that has the record, but
// where it says otherwise; 0: not known.
enum class TraceKind : std::uint8_t {
  // ---- of a worker; `peer` is the number of a lane among all of the job's, from 0
  fetch,    // a slot's examples, read by a reader: begun, done
  weights,  // of a version, what has arrived, written to where it is computed with: begun, done
  slot,     // wanted its examples, had them, had them for as long as all its forward passes took, was done
  push,     // a contribution: ready, handed to the transport, taken by the kernel; so many bytes
  pull,     // a chunk's version: asked for, handed to the transport by the lane (the lane's clock), arrived, stored
  // ---- of a lane; `peer` is a session
  contribution,  // handed to the transport by its worker (the worker's clock), read, summed
  update,        // a chunk: covered, begun, applied
  reply,         // a chunk's version: handed to the transport, taken by the kernel
  snapshot,      // the lane's part of it: begun, durable
  // An item's record: given to the journal, committed; and two spans of that, in microseconds: for how long the
  // journal's thread waited for the disk (at least 1), and of that in syncs that `durability.fsync` asks for.
  journal,
  work,  // of the lane's thread: since, until, so many microseconds of it not waiting, so many on a processor
  // ---- of the lead
  decision,  // of a step, where the update needs the whole gradient: all had reported, was sent
  // ---- of a worker or a lane: its connection to the peer, as the kernel has it, over tcp
  link,  // at, round trip, so many bytes sent again since the look before, so many a second arrived of late
  line,  // its machine's, as it was declared: at, so many bytes a second, each way; `peer`: who says the same shares it
};
inline constexpr auto kLastTraceKind = TraceKind::line;

struct TraceRecord {
  Step step = 0;           // of weights the one whose version they are, of which the next step is computed
  std::uint64_t peer = 0;  // of which the record is as well
  Micros first = 0;
  Micros second = 0;
  Micros third = 0;
  Micros fourth = 0;
  ChunkId chunk = 0;
  SlotRange slots = {};
  TraceKind kind = TraceKind::slot;
  bool operator==(const TraceRecord&) const = default;
};

enum class TraceRole : std::uint8_t { lead, lane, worker };

// Who has records.
struct TraceSource {
  TraceRole role = TraceRole::lead;
  LaneId lane;            // of a lane
  SessionId session = 0;  // of a worker
  auto operator<=>(const TraceSource&) const = default;
};

// The two clocks at one moment, as the process that has the records sees it.
struct ClockReading {
  Micros own = 0;
  Micros lead = 0;
  Micros error = 0;       // `lead` is wrong by that at most
  Micros round_trip = 0;  // the quickest of late
  bool operator==(const ClockReading&) const = default;
};

// How a job in rounds shares out its slots: what a replay of its steps goes by.
struct SharingRules {
  Slot slots = 0;            // of a step
  std::uint32_t chunks = 0;  // that the model is sent in
  std::uint64_t bytes = 0;   // of all of them
  bool by_speed = false;
  bool redistributes = false;
  bool operator==(const SharingRules&) const = default;
};

// ---- command line to lead, and lead to whoever has the records

struct TraceAsked {
  std::uint64_t number = 0;           // whatever helps the asker to tell answers apart
  std::optional<TraceSource> source;  // none: who is there?
  std::uint64_t from = 0;             // `next` of the part before; 0: begin
  Step first = 0;                     // with the first record of this step or a later one
  bool operator==(const TraceAsked&) const = default;
};

// ---- and back

struct TracePart {
  std::uint64_t number = 0;  // of what it answers
  TraceSource source;
  std::vector<TraceSource> sources;   // who is there
  std::optional<SharingRules> rules;  // likewise; none: the job is not in rounds
  std::vector<TraceRecord> records;   // in the order in which they were made
  std::uint64_t next = 0;             // where the next part begins
  std::uint64_t lost = 0;             // records that gave way to newer ones between the part before and this one
  bool ends = false;                  // there is no more as yet
  std::optional<ClockReading> clock;
  bool operator==(const TracePart&) const = default;
};

}  // namespace ballast
