#include "protocol/lane/round.h"

#include <algorithm>
#include <cassert>

#include "protocol/tree.h"

namespace ballast {

Round::Round(Slot slots) : slots_(slots), missing_(SlotSet::full(slots)), contributors_(slots) {}

Round::Offer Round::offer(Node node, PayloadId payload, SessionId from) {
  Offer offer;
  const bool is_covered =
      std::any_of(held_.begin(), held_.end(), [&](const auto& held) { return held.first.contains(node); });
  if (is_covered) {
    return offer;
  }
  offer.outcome = Outcome::accepted;
  discard_inside(node, offer);
  held_.emplace(node, payload);
  missing_.erase(node);
  std::fill(contributors_.begin() + node.begin, contributors_.begin() + node.end, from);
  join_upwards(node, offer);
  return offer;
}

void Round::discard_inside(Node node, Offer& offer) {
  for (auto held = held_.begin(); held != held_.end();) {
    if (node.contains(held->first)) {
      offer.discarded.push_back(held->second);
      held = held_.erase(held);
    } else {
      ++held;
    }
  }
}

void Round::join_upwards(Node node, Offer& offer) {
  while (const auto family = tree::family(node, slots_)) {
    const auto own = held_.find(node);
    const auto sibling = held_.find(family->sibling);
    if (sibling == held_.end()) {
      return;
    }
    const Join join = family->is_left ? Join{own->second, sibling->second} : Join{sibling->second, own->second};
    held_.erase(own);
    held_.erase(sibling);
    held_.emplace(family->parent, join.into);
    offer.joins.push_back(join);
    node = family->parent;
  }
}

PayloadId Round::root() const {
  assert(covered() && held_.size() == 1);
  return held_.begin()->second;
}

PayloadId Round::close() {
  const PayloadId payload = root();
  reset();
  return payload;
}

std::vector<PayloadId> Round::reset() {
  std::vector<PayloadId> payloads;
  for (const auto& [node, payload] : held_) {
    payloads.push_back(payload);
  }
  held_.clear();
  missing_ = SlotSet::full(slots_);
  std::fill(contributors_.begin(), contributors_.end(), SessionId{0});
  return payloads;
}

}  // namespace ballast
