#include "protocol/lead/work_ahead.h"

#include <algorithm>

#include "protocol/tree.h"

namespace ballast {

namespace {

// Of a range whose slots before `next` are begun: nodes that end before it have left.
SlotRange run_from(SlotRange range, Slot next, Slot slots) {
  auto run = range;
  for (auto node = tree::first_node(run, slots); node.end <= next; node = tree::first_node(run, slots)) {
    run.begin = node.end;
  }
  return run;
}

}  // namespace

WorkAhead::WorkAhead(const SlotHolder& holder, const OpenStep& open, const StepSize& step, const SessionPace& typical)
    : prediction_(holder.seen.pace(typical), step),
      slot_(holder.seen.pace(typical).slot),
      begin_(std::max({holder.seen.heard_at(), holder.share.given_at(), open.opened})),
      uplink_free_(std::max(begin_, holder.seen.uplink_free())) {
  if (holder.seen.in_hand(open.step) != kNoSlot) {
    begin_ = std::max(holder.seen.heard_at(), holder.seen.in_hand_since() + slot_);
  } else if (!holder.seen.has_begun(open.step)) {
    begin_ = std::max(holder.seen.heard_at(), open.opened + holder.seen.pace(typical).lag);
  }
  for (const auto range : holder.share.ranges()) {
    const auto next = holder.next_left(open, range);
    if (next == range.end) {
      continue;
    }
    if (!last_.run.empty()) {
      uplink_free_ = std::max(uplink_free_, prediction_.end(last_.run, last_.next, begin_, uplink_free_));
      begin_ += slot_ * most();
    }
    last_ = {run_from(range, next, step.slots), next};
  }
}

Micros WorkAhead::end(Slot without) const {
  auto run = last_.run;
  run.end = std::max(run.end - without, last_.next);
  if (run.empty()) {
    return std::max(begin_, uplink_free_);
  }
  const auto sent = std::max(uplink_free_, prediction_.end(run, last_.next, begin_, uplink_free_));
  return std::max(begin_ + slot_ * (run.end - last_.next), sent);
}

MoreWork::MoreWork(const SlotHolder& taker, const OpenStep& open, const StepSize& step, const SessionPace& typical,
                   Micros now)
    : prediction_(taker.seen.pace(typical), step),
      begin_(taker.seen.has_begun(open.step) ? now : now + taker.seen.pull_time(step, typical)),
      uplink_free_(std::max(begin_, taker.seen.uplink_free())) {}

}  // namespace ballast
