// What the shells show the judge of themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

// A contribution that a lane's shell keeps for its core.
struct HeldPayload {
  ChunkId chunk = 0;
  Step step = 0;
  Node node;  // the slots it covers
  Payload payload;
  SessionId session = 0;  // that brought it
};
using HeldPayloads = std::map<PayloadId, HeldPayload>;

// One life of a lane, and the timeline that its shell has put in place.
struct LaneLife {
  std::uint32_t process = 0;
  std::uint32_t lane = 0;
  Incarnation incarnation = 0;
  Timeline timeline = 0;
  DatabaseLife database = {};
};

// Whether `ledger` calls the snapshot complete.
inline bool is_listed(const Ledger& ledger, SnapshotId id) {
  return std::find(ledger.complete.begin(), ledger.complete.end(), id) != ledger.complete.end();
}

}  // namespace ballast::simulation
