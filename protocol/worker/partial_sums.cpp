#include "protocol/worker/partial_sums.h"

#include "protocol/tree.h"

namespace ballast {

bool PartialSums::are_siblings(Node left, Node right) const {
  if (left.end != right.begin) {
    return false;
  }
  const auto family = tree::family(left, slots_);
  return family && family->sibling == right;
}

bool PartialSums::awaits_sibling(Node node, Slot end) const {
  const auto family = tree::family(node, slots_);
  return family && family->is_left && family->parent.end <= end;
}

}  // namespace ballast
