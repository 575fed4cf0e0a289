#include "protocol/lane/round.h"

#include <algorithm>
#include <cassert>

#include "protocol/tree.h"

namespace ballast {

Round::Round(Slot slots) : slots_(slots), missing_(SlotSet::full(slots)), contributors_(slots) {}

Round::Offer Round::offer(Node node, PayloadId payload, SessionId from) {
  Offer offer;
  const bool is_covered =
      std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& known) { return known.first.contains(node); });
  if (is_covered) {
    return offer;
  }
  offer.outcome = Outcome::accepted;
  discard_inside(node, offer);
  nodes_.emplace(node, payload);
  missing_.erase(node);
  std::fill(contributors_.begin() + node.begin, contributors_.begin() + node.end, from);
  join_upwards(node, offer);
  return offer;
}

void Round::discard_inside(Node node, Offer& offer) {
  for (auto known = nodes_.begin(); known != nodes_.end();) {
    if (node.contains(known->first)) {
      offer.discarded.push_back(known->second);
      known = nodes_.erase(known);
    } else {
      ++known;
    }
  }
}

void Round::join_upwards(Node node, Offer& offer) {
  while (const auto family = tree::family(node, slots_)) {
    const auto own = nodes_.find(node);
    const auto sibling = nodes_.find(family->sibling);
    if (sibling == nodes_.end()) {
      return;
    }
    const Join join = family->is_left ? Join{own->second, sibling->second} : Join{sibling->second, own->second};
    nodes_.erase(own);
    nodes_.erase(sibling);
    nodes_.emplace(family->parent, join.into);
    offer.joins.push_back(join);
    node = family->parent;
  }
}

std::vector<SessionId> Round::some_contributors(std::size_t most) const {
  std::vector<SessionId> some;
  for (const auto session : contributors_) {
    if (some.size() == most) {
      break;
    }
    if (session != 0 && std::ranges::find(some, session) == some.end()) {
      some.push_back(session);
    }
  }
  return some;
}

PayloadId Round::root() const {
  assert(covered() && nodes_.size() == 1);
  return nodes_.begin()->second;
}

PayloadId Round::close() {
  const PayloadId payload = root();
  reset();
  return payload;
}

std::vector<PayloadId> Round::reset() {
  std::vector<PayloadId> payloads;
  for (const auto& [node, payload] : nodes_) {
    payloads.push_back(payload);
  }
  nodes_.clear();
  missing_ = SlotSet::full(slots_);
  std::fill(contributors_.begin(), contributors_.end(), SessionId{0});
  return payloads;
}

}  // namespace ballast
