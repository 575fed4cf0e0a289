// Judges which slots a worker computes in rounds, and what becomes of those that it has begun.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"

namespace ballast::simulation {

// What a worker has been ordered to compute, by all orders that it has heard. Methods throw Violation.
class OrderedSlots {
 public:
  explicit OrderedSlots(Slot slots) : slots_(slots) {}

  void heard(const Assign& assign);
  // It begins to, or has its computation amended.
  void computes(Timeline timeline, Step step, const std::vector<SlotRange>& ranges) const;

 private:
  struct Orders {
    std::vector<Standing> standing;
    std::map<Step, SlotSet> now;
  };

  Slot slots_;
  std::map<Timeline, Orders> orders_;
};

// Every slot that a computation begins leaves in one sum of each chunk, whatever is taken back meanwhile: its worker
// does not compute it again, and nobody else does before the lead gives up waiting. Methods throw Violation.
class BegunSlots {
 public:
  BegunSlots() = default;
  BegunSlots(Slot slots, std::size_t chunks) : begun_(slots), left_(chunks, SlotSet(slots)) {}

  void begins(Slot slot) { begun_.insert({slot, slot + 1}); }
  void leaves(ChunkId chunk, Node node);
  // The computation is over.
  void end() const;

 private:
  SlotSet begun_;
  std::vector<SlotSet> left_;  // by chunk
};

}  // namespace ballast::simulation
