// The reduction tree: one fixed order of summation over a step's slots.
//
// Over M slots stands one binary tree: the left subtree holds the largest power of two below M, the right one the rest,
// and so on down; no padding. A node's value is left + right. Whoever computes a node gets the same bits.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ids.h"

namespace ballast::tree {

// Where a node of two or more slots divides: its children are [begin, split) and [split, end).
Slot split(Node node);

// Whether `node` is a node of the tree over `slots` slots.
bool is_node(Node node, Slot slots);

struct Family {
  Node parent;
  Node sibling;
  bool is_left = false;  // whether the node asked about is the left child
};
// The parent and sibling of a node; none for the root. `node` must be a node of the tree over `slots`.
std::optional<Family> family(Node node, Slot slots);

// The largest nodes that together make up `range`, in slot order. About 2 log2(M) at most.
std::vector<Node> cover(SlotRange range, Slot slots);
// How many.
std::uint32_t nodes_in(SlotRange range, Slot slots);

// How many sums are complete once `slot`, the newest of `node`'s slots taken in order, has been added: the number of
// nodes inside `node` (of two slots or more) that end with it. This is how a worker runs its binary counter of buffers.
Slot sums_completed_by(Slot slot, Node node);

// The most partial sums that a worker holds at once while it computes `node`, the slot in hand included.
Slot buffers_needed(Node node);

}  // namespace ballast::tree
