#include "protocol/worker/lane_links.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace ballast {

std::vector<std::uint32_t> LaneLinks::greets(Micros now, Micros every) {
  std::vector<std::uint32_t> due;
  for (std::uint32_t lane = 0; lane < size(); ++lane) {
    if (lanes_[lane].asks(now, every)) {
      due.push_back(lane);
    }
  }
  return due;
}

bool LaneLinks::are_welcome() const {
  return std::ranges::all_of(lanes_, [](const LaneLink& lane) { return lane.is_welcome(); });
}

bool LaneLinks::has(Step step, Slot slot) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const LaneLink& lane) { return lane.outbox.has(step, slot); });
}

std::vector<PayloadId> LaneLinks::drop_older_timelines(Timeline timeline) {
  std::vector<PayloadId> payloads;
  for (auto& lane : lanes_) {
    const auto dropped = lane.outbox.drop_older_timelines(timeline);
    payloads.insert(payloads.end(), dropped.begin(), dropped.end());
  }
  return payloads;
}

std::vector<Contribution> LaneLinks::drop(Step step, Slot slot) {
  std::vector<Contribution> contributions;
  for (auto& lane : lanes_) {
    const auto dropped = lane.outbox.drop(step, slot);
    contributions.insert(contributions.end(), dropped.begin(), dropped.end());
  }
  return contributions;
}

std::vector<Contribution> LaneLinks::withdraw(Step step, Node node) {
  std::vector<Contribution> contributions;
  for (auto& lane : lanes_) {
    const auto withdrawn = lane.outbox.withdraw(step, node);
    contributions.insert(contributions.end(), withdrawn.begin(), withdrawn.end());
  }
  return contributions;
}

std::vector<KeptNode> LaneLinks::kept(Step step) const {
  std::map<Node, KeptNode> nodes;
  for (const auto& lane : lanes_) {
    for (const auto& kept : lane.outbox.kept(step)) {
      auto& node = nodes.try_emplace(kept.node, kept).first->second;
      node.is_sent = node.is_sent || kept.is_sent;
      node.since = std::max(node.since, kept.since);
    }
  }
  std::vector<KeptNode> kept;
  std::ranges::transform(nodes, std::back_inserter(kept), [](const auto& each) { return each.second; });
  return kept;
}

const LaneAddress* LaneLinks::waiting(const std::vector<LaneAddress>& addresses, Micros now, Micros silence) const {
  const auto found =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const LaneLink& lane) { return lane.lets_wait(now, silence); });
  return found == lanes_.end() ? nullptr : &addresses[static_cast<std::size_t>(found - lanes_.begin())];
}

std::string LaneLinks::waits_for(const std::vector<LaneAddress>& addresses, Micros now, Micros silence) const {
  const auto* at = waiting(addresses, now, silence);
  if (at == nullptr) {
    return {};
  }
  const auto all =
      std::count_if(lanes_.begin(), lanes_.end(), [&](const LaneLink& lane) { return lane.lets_wait(now, silence); });
  const auto others = all - 1;
  const auto text = lanes_[static_cast<std::size_t>(at - addresses.data())].describe(*at);
  return others == 0 ? text : text + " (and " + std::to_string(others) + " other lane" + (others == 1 ? ")" : "s)");
}

std::uint64_t LaneLinks::retries() const {
  std::uint64_t retries = 0;
  for (const auto& lane : lanes_) {
    retries += lane.outbox.retries();
  }
  return retries;
}

std::uint64_t LaneLinks::in_flight_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& lane : lanes_) {
    bytes += lane.outbox.in_flight_bytes();
  }
  return bytes;
}

std::uint64_t LaneLinks::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& lane : lanes_) {
    bytes += lane.outbox.bytes();
  }
  return bytes;
}

std::size_t LaneLinks::outstanding() const {
  std::size_t count = 0;
  for (const auto& lane : lanes_) {
    count += lane.outbox.size();
  }
  return count;
}

}  // namespace ballast
