// The reduction tree: one fixed order of summation over a step's slots.
//
// Over M slots stands one binary tree: the left subtree holds the largest power of two below M, the right one the rest,
// and so on down; no padding. A node's value is left + right. Whoever computes a node gets the same bits.
// Pure functions.
#pragma once

#include <algorithm>
#include <bit>
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

// Where the parent of a left child ends, which is where its sibling does; 0 for a right child and for the root. In
// constant time: a left child holds a power of two of slots, and begins at a multiple of twice as many.
constexpr Slot sibling_end(Node node, Slot slots) {
  const auto twice = (std::uint64_t{node.end} - node.begin) * 2;
  const bool is_left = node.end < slots && node.begin % twice == 0;
  return is_left ? static_cast<Slot>(std::min<std::uint64_t>(node.begin + twice, slots)) : 0;
}

// The largest nodes that together make up `range`, in slot order. About 2 log2(M) at most.
std::vector<Node> cover(SlotRange range, Slot slots);
// The first of them, in constant time; `range` must not be empty. What is left of the range behind it has the rest of
// the cover, so a loop walks a cover without allocating:
//   for (; !range.empty(); range.begin = node.end) { node = first_node(range, slots); ... }
//
// A node that begins at a slot other than 0 holds as many slots as the lowest set bit of that slot, or a smaller power
// of two; the tree's ragged edge cuts those off that pass it.
constexpr Node first_node(SlotRange range, Slot slots) {
  const std::uint64_t begin = range.begin;
  const auto widest = begin == 0 ? slots : std::min<std::uint64_t>(begin + (begin & (~begin + 1)), slots);
  return {range.begin, widest <= range.end ? static_cast<Slot>(widest) : range.begin + std::bit_floor(range.size())};
}
// How many.
std::uint32_t nodes_in(SlotRange range, Slot slots);

// How many sums are complete once `slot`, the newest of `node`'s slots taken in order, has been added: the number of
// nodes inside `node` (of two slots or more) that end with it. This is how a worker runs its binary counter of buffers.
Slot sums_completed_by(Slot slot, Node node);

// The most partial sums that a worker holds at once while it computes `node`, the slot in hand included.
Slot buffers_needed(Node node);

}  // namespace ballast::tree
