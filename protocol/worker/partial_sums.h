// A worker's part of the reduction tree: the sums of consecutive slots of one chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/ids.h"
#include "protocol/tree.h"

namespace ballast {

// The sum over a node of one chunk's gradients.
struct PartialSum {
  Node node;
  std::uint32_t arena = 0;  // where it is; the caller's name for it
  Slot fault = kNoSlot;     // the first of its slots whose gradient is known not to be finite
  bool operator==(const PartialSum&) const = default;
};

// Slots come one after the other. Two sums are joined as soon as they are siblings of the tree; a sum leaves when no
// slot that is still to come can be joined to it. So whatever becomes of the slots after it, what has left are nodes of
// the tree, each slot in one of them.
//
// A sum that is no right child whose sibling is there waits for its sibling exactly if that is still to come: it is a
// left child, and its parent ends within the run. `end` below is where the run of consecutive slots ends, as far as is
// known; it may become another at any time.
//
// One chunk each, so that a chunk whose part of a slot is computed and one whose part is not may leave as different
// nodes. Pure and copyable. Holds at most log2(slots) + 1 sums. A call costs as much, or the
// joins that it makes.
class PartialSums {
 public:
  explicit PartialSums(Slot slots) : slots_(slots) {}

  // The newest slot's gradient. `join(into, with)` adds the right sum `with` to the left one, `into`, whose node it
  // extends; `with` is free then. `leave(sum)` gives a sum up.
  template <typename Join, typename Leave>
  void add(PartialSum leaf, Slot end, Join&& join, Leave&& leave) {
    sums_.push_back(leaf);
    while (sums_.size() > 1 && are_siblings(sums_[sums_.size() - 2].node, sums_.back().node)) {
      auto& into = sums_[sums_.size() - 2];
      join(into, sums_.back());
      into.node.end = sums_.back().node.end;
      sums_.pop_back();
    }
    settle(end, leave);
  }

  // No slot from `end` on follows.
  template <typename Leave>
  void settle(Slot end, Leave&& leave) {
    std::erase_if(sums_, [&](const PartialSum& sum) {
      const bool leaves = !awaits_sibling(sum.node, end);
      if (leaves) {
        leave(sum);
      }
      return leaves;
    });
  }

  [[nodiscard]] const std::vector<PartialSum>& sums() const { return sums_; }

 private:
  [[nodiscard]] bool are_siblings(Node left, Node right) const {
    return left.end == right.begin && tree::sibling_end(left, slots_) == right.end;
  }
  [[nodiscard]] bool awaits_sibling(Node node, Slot end) const {
    const auto sibling_end = tree::sibling_end(node, slots_);
    return sibling_end != 0 && sibling_end <= end;
  }

  Slot slots_;
  std::vector<PartialSum> sums_;  // in slot order
};

}  // namespace ballast
