// When a session will have computed and sent a range of slots.
#pragma once

#include <cstdint>

#include "protocol/ids.h"

namespace ballast {

// What a session's slots and sends take.
struct SessionPace {
  Micros lag = 0;   // from a step's opening to the begin of the session's first slot
  Micros slot = 0;  // one slot
  // Its uplink, bytes per microsecond. 0, like anything else that is no positive number: not known, sending takes no
  // time.
  double up = 0;
  bool operator==(const SessionPace&) const = default;
};

struct StepSize {
  Slot slots = 1;            // at least 1
  std::uint64_t bytes = 0;   // of one node's sums: the whole model
  std::uint32_t chunks = 1;  // that these are sent in, of equal size; at least 1
  bool operator==(const StepSize&) const = default;
};

// Tells when ranges of slots will have been computed and sent, by one session.
//
// Pure, copyable. A prediction costs a walk over the range's nodes, 2 log2(slots) of them at most; nothing is
// allocated.
class EndPrediction {
 public:
  EndPrediction(const SessionPace& pace, const StepSize& step);

  // When the last chunk of the last node of `run` has left, a moment like `begin` and `uplink_free`; rounded up, and
  // the last moment there is where it would be later. Of an empty run: `begin`.
  //
  // The slots [next, run.end) are computed from `begin` on, one after the other; run.begin <= next <= run.end. Those
  // before `next` are computed already, and their sums leave with the run's nodes: a node that ends at or before `next`
  // is ready at `begin`. The nodes are sent in slot order over an uplink that is free from `uplink_free` on. A node's
  // chunks become ready one after the other, in equal intervals, during the last two thirds of its last slot: the
  // backward pass.
  [[nodiscard]] Micros end(SlotRange run, Slot next, Micros begin, Micros uplink_free) const;

  // From the end of a range's last slot until all has left, where the range is one node: no cover of it takes less.
  // Microseconds, 2^63 at most.
  [[nodiscard]] double shortest_tail() const;

 private:
  Slot slots_;
  double slot_;   // one slot; these and the following are in microseconds
  double node_;   // sending all chunks of a node, one after the other
  double chunk_;  // sending one
  double early_;  // how long before the end of a node's last slot its first chunk is ready
};

}  // namespace ballast
