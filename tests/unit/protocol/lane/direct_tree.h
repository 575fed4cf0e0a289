// The reduction tree written down as its definition says, without any of the core's functions: what tests compare with.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "protocol/ids.h"

namespace ballast::direct {

inline Slot left_size(Slot count) {
  Slot left = 1;
  while (left * 2 < count) {
    left *= 2;
  }
  return left;
}

// The sum over [begin, begin + count) as text, brackets showing the order.
inline std::string sum_text(Slot begin, Slot count) {
  if (count == 1) {
    return std::to_string(begin);
  }
  const Slot left = left_size(count);
  return "(" + sum_text(begin, left) + "+" + sum_text(begin + left, count - left) + ")";
}
inline std::string sum_text(Node node) { return sum_text(node.begin, node.end - node.begin); }

inline void collect(Slot begin, Slot count, std::vector<Node>& nodes) {
  nodes.push_back({begin, begin + count});
  if (count > 1) {
    const Slot left = left_size(count);
    collect(begin, left, nodes);
    collect(begin + left, count - left, nodes);
  }
}

// All nodes of the tree over `slots` slots, parents before their children.
inline std::vector<Node> nodes(Slot slots) {
  std::vector<Node> all;
  collect(0, slots, all);
  return all;
}

}  // namespace ballast::direct
