// Between workers and lanes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages/parts.h"

namespace ballast {

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
  LeadNumber clock = {};  // of the grant that they are for, if of one
  bool averages =
      false;  // the moving averages of the weights, as evaluations use them; the newest version alone has them
  bool operator==(const Pull&) const = default;
};

// Of a contribution in item mode.
struct ItemPush {
  Version computed_from = 0;       // the chunk's version that it was computed from
  LeadNumber clock = {};           // want_next pulls the newest version with this clock
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
  // Computed from weights that are older than the job's bound allows, or that the chunk's shard has lost: refused for
  // good. The work is still to be done, from other weights.
  expired,
};

// The work of (timeline, step, chunk, node) need not be repeated while the shard lives, unless it has expired.
struct Receipt {
  Timeline timeline = 0;
  Step step = 0;
  ChunkId chunk = 0;
  Node node;
  ReceiptOutcome outcome = ReceiptOutcome::accepted;
  bool operator==(const Receipt&) const = default;
};

// Its payload frame is the chunk's weights at `version`, or their average.
struct Weights {
  Timeline timeline = 0;
  Incarnation incarnation = 0;
  ChunkId chunk = 0;
  Version version = 0;
  LeadNumber clock = {};       // of the pull
  std::uint64_t sequence = 0;  // in a journaled job: what the shard's journal had committed, as far as the lane knows
  bool averages = false;       // as in the pull
  bool operator==(const Weights&) const = default;
};

// `version` of the chunk, or the average at it, is no longer there; the chunk is at version `newest`. One answers a
// pull, whichever of its other chunks have that version no more either.
struct Gone {
  Timeline timeline = 0;
  ChunkId chunk = 0;
  Version version = 0;
  Version newest = 0;
  bool averages = false;  // as in the pull
  bool operator==(const Gone&) const = default;
};

// The message belonged to an older timeline than the current one, which is named.
struct Stale {
  Timeline timeline = 0;
  bool operator==(const Stale&) const = default;
};

}  // namespace ballast
