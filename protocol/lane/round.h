// One chunk's collection of the M slots of one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// into += with, the left child being `into`; then `with` is free.
struct Join {
  PayloadId into = kNoPayload;
  PayloadId with = kNoPayload;
};

// Counts which work is covered, never who did it: a contribution is known by its node of the reduction tree alone.
// Invariants:
//   1. its nodes are disjoint, and no two of them are siblings (siblings are joined at once);
//   2. therefore a node is covered exactly if one of them contains it;
//   3. every one owns exactly one payload.
// Holds at most most_payloads(slots) payloads.
class Round {
 public:
  enum class Outcome : std::uint8_t { accepted, duplicate };

  struct Offer {
    Outcome outcome = Outcome::duplicate;
    std::vector<PayloadId> discarded;  // superseded payloads: to be dropped
    std::vector<Join> joins;           // to be carried out in this order
  };

  explicit Round(Slot slots);

  static constexpr Slot most_payloads(Slot slots) { return (slots + 1) / 2; }

  // Takes over `payload` if the outcome is accepted. `node` must be a node of the tree over the round's slots.
  Offer offer(Node node, PayloadId payload, SessionId from);

  [[nodiscard]] bool covered() const { return missing_.empty(); }
  [[nodiscard]] bool covers(Node node) const;
  [[nodiscard]] bool holds(Node node) const { return nodes_.contains(node); }
  [[nodiscard]] std::size_t held() const { return nodes_.size(); }
  // The first slot that is missing; none: it is covered.
  [[nodiscard]] std::optional<Slot> first_missing() const;
  // How many of its nodes lie before that slot.
  [[nodiscard]] std::size_t held_before_missing() const;
  [[nodiscard]] const SlotSet& missing() const { return missing_; }
  // The first `most` of those who contributed what is covered, each once. For accounts only; costs as much as there are
  // slots.
  [[nodiscard]] std::vector<SessionId> some_contributors(std::size_t most) const;

  // The root's payload. Only when covered.
  [[nodiscard]] PayloadId root() const;
  // Gives up the root's payload and opens the next step's round. Only when covered.
  PayloadId close();
  // Gives up everything: a round without contributions.
  std::vector<PayloadId> reset();

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_), listed::payloads(nodes_), listed::parts(missing_),
                       listed::accounts(contributors_));
  }

 private:
  void discard_inside(Node node, Offer& offer);
  void join_upwards(Node node, Offer& offer);

  Slot slots_;
  std::map<Node, PayloadId> nodes_;
  SlotSet missing_;
  std::vector<SessionId> contributors_;
};

}  // namespace ballast
