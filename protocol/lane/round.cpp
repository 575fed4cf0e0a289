#include "protocol/lane/round.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "protocol/tree.h"

namespace ballast {

Round::Round(Slot slots) : slots_(slots), missing_(SlotSet::full(slots)), contributors_(slots) {}

Round::Offer Round::offer(Node node, PayloadId payload, SessionId from) {
  Offer offer;
  if (covers(node)) {
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

// Its nodes are disjoint, so the last one that begins no later is the only one that can contain it.
bool Round::covers(Node node) const {
  const auto after = nodes_.upper_bound({node.begin, ~Slot{0}});
  return after != nodes_.begin() && std::prev(after)->first.contains(node);
}

std::optional<Slot> Round::first_missing() const {
  const auto slot = missing_.first_of({0, slots_}, nullptr);
  return slot == slots_ ? std::nullopt : std::optional(slot);
}

std::size_t Round::held_before_missing() const {
  const auto first = first_missing();
  std::size_t held = 0;
  for (const auto& [node, payload] : nodes_) {
    if (first && node.begin > *first) {
      break;
    }
    ++held;
  }
  return held;
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
