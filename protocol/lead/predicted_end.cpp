#include "protocol/lead/predicted_end.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "protocol/tree.h"

namespace ballast {

namespace {

constexpr auto kLongest = 0x1p63;  // microseconds; what is longer is not told from for ever

Micros later_by(Micros moment, double span) {
  constexpr auto kLast = std::numeric_limits<Micros>::max();
  const auto whole = std::ceil(span);
  if (whole >= kLongest || static_cast<Micros>(whole) > kLast - moment) {
    return kLast;
  }
  return moment + static_cast<Micros>(whole);
}

}  // namespace

EndPrediction::EndPrediction(const SessionPace& pace, const StepSize& step)
    : slots_(step.slots), slot_(static_cast<double>(pace.slot)) {
  const auto chunks = static_cast<double>(std::max(step.chunks, 1U));
  node_ = pace.up > 0 ? static_cast<double>(step.bytes) / pace.up : 0;
  chunk_ = node_ / chunks;
  early_ = slot_ * (2.0 / 3) * (1 - 1 / chunks);
}

// Chunks that become ready in equal intervals and leave in equal ones wait either all for the uplink, from the first
// one on, or the last one does not: so the later of the two cases is the end.
Micros EndPrediction::end(SlotRange run, Slot next, Micros begin, Micros uplink_free) const {
  if (run.empty()) {
    return begin;
  }
  auto free = uplink_free > begin ? static_cast<double>(uplink_free - begin) : 0.0;  // spans from `begin` on
  while (!run.empty()) {
    const auto node = tree::first_node(run, slots_);
    const auto ready = node.end <= next ? 0.0 : static_cast<double>(node.end - next) * slot_;
    const auto first = node.end <= next ? 0.0 : ready - early_;
    free = std::max(std::max(free, first) + node_, ready + chunk_);
    run.begin = node.end;
  }
  return later_by(begin, free);
}

double EndPrediction::shortest_tail() const { return std::min(std::max(node_ - early_, chunk_), kLongest); }

}  // namespace ballast
