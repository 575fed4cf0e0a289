// A worker's links to all lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/deadline.h"
#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"
#include "protocol/worker/lane_link.h"

namespace ballast {

// By lane, over all shards. Pure and copyable.
class LaneLinks {
 public:
  LaneLinks(std::uint32_t lanes, LearntDeadline::Bounds retry) : lanes_(lanes, LaneLink(retry)) {}

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(lanes_.size()); }
  LaneLink& operator[](std::uint32_t lane) { return lanes_[lane]; }
  const LaneLink& operator[](std::uint32_t lane) const { return lanes_[lane]; }

  // The lanes that are due to be greeted; then they count as greeted.
  std::vector<std::uint32_t> greets(Micros now, Micros every);
  // To all of them.
  [[nodiscard]] bool are_welcome() const;
  // Whether a contribution of the slot to the step has no receipt yet.
  [[nodiscard]] bool has(Step step, Slot slot) const;
  // The payloads of what was computed in older timelines.
  std::vector<PayloadId> drop_older_timelines(Timeline timeline);
  // The contributions of the slot to the step, which are forgotten.
  std::vector<Contribution> drop(Step step, Slot slot);
  // Those within the node, likewise.
  std::vector<Contribution> withdraw(Step step, Node node);
  // Nodes of the step of which some lane is still to have a contribution, each once, ascending.
  [[nodiscard]] std::vector<KeptNode> kept(Step step) const;

  // The first of `addresses`, those of the lanes, that lets wait: it answers no hello for so long, or refuses this
  // worker for now; null: none does.
  [[nodiscard]] const LaneAddress* waiting(const std::vector<LaneAddress>& addresses, Micros now, Micros silence) const;
  // That lane, where it is and why, and how many others; empty if there is none.
  [[nodiscard]] std::string waits_for(const std::vector<LaneAddress>& addresses, Micros now, Micros silence) const;

  [[nodiscard]] std::uint64_t retries() const;
  [[nodiscard]] std::uint64_t in_flight_bytes() const;
  // Of contributions without a receipt, sent or not.
  [[nodiscard]] std::uint64_t bytes() const;
  // Contributions without a receipt.
  [[nodiscard]] std::size_t outstanding() const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(lanes_));
  }

 private:
  std::vector<LaneLink> lanes_;
};

}  // namespace ballast
