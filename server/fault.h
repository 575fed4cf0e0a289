// Deaths on demand, so that tests can kill a server at an exact point: BALLAST_SERVER_FAULT=POINT[:COUNT][@once:FILE].
#pragma once

#include <cstdint>

namespace ballast {

enum class ServerFault : std::uint8_t {
  snapshot_chunk,     // "snapshot-chunk": a chunk of a snapshot has been written
  timeline_recorded,  // "timeline-recorded": the lead's new timeline is durable, and nobody has been told
  before_serve,       // "before-serve": a lane holds the base of its timeline, and has answered nobody
  before_finished,    // "before-finished": the ledger says that the job finished; this shard does not yet
  record_fetched,     // "record-fetched": a record of a copy is about to be taken by a server that restores its part
};

// Reads the environment. Throws std::runtime_error for a fault that it does not know.
void arm_faults();
// Kills this process (SIGKILL) if its fault is the `COUNT`th passing of this point (default: the first). With FILE only
// if FILE does not exist; it is made first. Thread-safe.
void strike(ServerFault point);

}  // namespace ballast
