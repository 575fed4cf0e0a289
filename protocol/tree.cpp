#include "protocol/tree.h"

#include <algorithm>
#include <bit>

namespace ballast::tree {

Slot split(Node node) { return node.begin + std::bit_floor(node.size() - 1); }

bool is_node(Node node, Slot slots) {
  if (node.empty() || node.end > slots) {
    return false;
  }
  Node at{0, slots};
  while (at != node) {
    if (at.size() == 1) {
      return false;
    }
    const Slot middle = split(at);
    if (node.end <= middle) {
      at.end = middle;
    } else if (node.begin >= middle) {
      at.begin = middle;
    } else {
      return false;
    }
  }
  return true;
}

std::optional<Family> family(Node node, Slot slots) {
  Node at{0, slots};
  while (at != node) {
    const Slot middle = split(at);
    const Node left{at.begin, middle};
    const Node right{middle, at.end};
    if (left == node) {
      return Family{at, right, true};
    }
    if (right == node) {
      return Family{at, left, false};
    }
    at = node.end <= middle ? left : right;
  }
  return std::nullopt;
}

namespace {

void cover_below(Node at, SlotRange range, std::vector<Node>& nodes) {
  if (range.contains(at)) {
    nodes.push_back(at);
    return;
  }
  if (at.end <= range.begin || range.end <= at.begin) {
    return;
  }
  const Slot middle = split(at);
  cover_below({at.begin, middle}, range, nodes);
  cover_below({middle, at.end}, range, nodes);
}

}  // namespace

std::vector<Node> cover(SlotRange range, Slot slots) {
  std::vector<Node> nodes;
  if (!range.empty()) {
    cover_below({0, slots}, range, nodes);
  }
  return nodes;
}

std::uint32_t nodes_in(SlotRange range, Slot slots) {
  std::uint32_t nodes = 0;
  for (; !range.empty(); range.begin = first_node(range, slots).end) {
    ++nodes;
  }
  return nodes;
}

Slot sums_completed_by(Slot slot, Node node) {
  Slot sums = 0;
  while (node.size() > 1) {
    if (node.end == slot + 1) {
      ++sums;
    }
    const Slot middle = split(node);
    if (slot < middle) {
      node.end = middle;
    } else {
      node.begin = middle;
    }
  }
  return sums;
}

Slot buffers_needed(Node node) {
  Slot held = 0;
  Slot most = 0;
  for (Slot slot = node.begin; slot < node.end; ++slot) {
    most = std::max(most, held + 1);
    held = held + 1 - sums_completed_by(slot, node);
  }
  return most;
}

}  // namespace ballast::tree
