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
  bool takes_calls = false;  // it sends contributions when they are called; else within a credit
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
  ItemPush items = {};     // in rounds empty
  std::uint64_t call = 0;  // that it answers; 0: it spends bytes given ahead
  bool operator==(const Push&) const = default;
};

// What is computed and not called yet, the lowest kMaxOffers of it, ascending. Takes the place of what was offered
// before over this connection.
struct Offers {
  Timeline timeline = 0;
  std::vector<Work> works;
  bool operator==(const Offers&) const = default;
};

// The call's work is not here any more, or was sent before.
struct CallVoid {
  std::uint64_t number = 0;
  bool operator==(const CallVoid&) const = default;
};

// Of those given ahead so many bytes, which are not spent and will not be.
struct BytesReturned {
  std::uint64_t number = 0;  // of the ReturnAsked that it answers; 0: unasked
  std::uint64_t bytes = 0;
  bool operator==(const BytesReturned&) const = default;
};

// ---- lane to worker

struct LaneWelcome {
  Timeline timeline = 0;
  Incarnation incarnation = 0;
  // Payload bytes that the worker may have sent without a receipt, if it takes no calls; else 0.
  std::uint64_t credit_bytes = 0;
  bool operator==(const LaneWelcome&) const = default;
};

// The lane has room for this contribution, and takes it once. Numbers increase over a session's life at the lane; one
// that is said again is the same call.
struct Call {
  std::uint64_t number = 0;  // never 0
  Work work;
  bool operator==(const Call&) const = default;
};

// The lane has room for so many more bytes of contributions, whichever they are.
struct BytesAhead {
  std::uint64_t bytes = 0;
  bool operator==(const BytesAhead&) const = default;
};

// What is not spent of the bytes given ahead is wanted back.
struct ReturnAsked {
  std::uint64_t number = 0;  // never 0
  bool operator==(const ReturnAsked&) const = default;
};

enum class ReceiptOutcome : std::uint8_t {
  accepted,
  duplicate,
  // Computed from weights that are older than the job's bound allows, or that the chunk's shard has lost: refused for
  // good. The work is still to be done, from other weights.
  expired,
  // The lane cannot take it yet: it is to be offered again.
  not_yet,
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
