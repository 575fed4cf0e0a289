#include "protocol/worker/buffer_shortage.h"

namespace ballast {

namespace {

// Nodes of the tree lie within one another or apart. If a computation was amended, a chunk's sum may be a node within
// another chunk's: then both are given up.
std::vector<KeptNode> widest(std::vector<KeptNode> kept) {
  std::ranges::sort(kept, [](const KeptNode& left, const KeptNode& right) {
    return left.node.begin != right.node.begin ? left.node.begin < right.node.begin : left.node.end > right.node.end;
  });
  std::vector<KeptNode> widest;
  for (const auto& each : kept) {
    if (widest.empty() || each.node.begin >= widest.back().node.end) {
      widest.push_back(each);
      continue;
    }
    widest.back().is_sent = widest.back().is_sent || each.is_sent;
    widest.back().since = std::max(widest.back().since, each.since);
  }
  return widest;
}

}  // namespace

void BufferShortage::begin(Timeline timeline, Step step) {
  if (timeline != timeline_ || step != step_) {
    timeline_ = timeline;
    step_ = step;
    std::ranges::fill(left_, 0);
  }
}

void BufferShortage::left(Node node) {
  for (auto slot = node.begin; slot < node.end; ++slot) {
    ++left_[slot];
  }
}

bool BufferShortage::is_finished(Node node) const {
  return std::all_of(left_.begin() + node.begin, left_.begin() + node.end,
                     [&](std::uint32_t left) { return left >= chunks_; });
}

std::optional<Node> BufferShortage::choose(const std::vector<KeptNode>& kept, Micros before) const {
  std::optional<Node> chosen;
  for (const auto& each : widest(kept)) {
    const bool can_be = !each.is_sent && each.since <= before && is_finished(each.node);
    if (can_be && (!chosen || each.node.size() <= chosen->size())) {
      chosen = each.node;
    }
  }
  return chosen;
}

void BufferShortage::give_up(Node node) { std::fill(left_.begin() + node.begin, left_.begin() + node.end, 0); }

}  // namespace ballast
