#include "insight/replayed_worker.h"

#include <algorithm>
#include <utility>

#include "protocol/tree.h"

namespace ballast::insight {

ReplayedWorker::ReplayedWorker(const WorkerTimes& times, const SharingRules& rules)
    : times_(times), slots_(rules.slots), computed_(rules.slots), sent_(rules.slots) {}

void ReplayedWorker::order(const Standing& standing, std::optional<StepWork> now) {
  if (standings_.empty() || standings_.back().from <= standing.from) {
    if (!standings_.empty() && standings_.back().from == standing.from) {
      standings_.pop_back();
    }
    standings_.push_back(standing);
  }
  while (standings_.size() > 1 && standings_[1].from <= step_) {
    standings_.erase(standings_.begin());
  }
  now_ = std::move(now);
}

SlotRange ReplayedWorker::standing_at(Step step) const {
  SlotRange range;
  for (const auto& standing : standings_) {
    range = standing.from <= step ? standing.slots : range;
  }
  return range;
}

bool ReplayedWorker::wants(Step step) const {
  return now_ && now_->step == step ? !now_->ranges.empty() : !standing_at(step).empty();
}

void ReplayedWorker::begin(Step step) {
  step_ = step;
  computed_ = SlotSet(slots_);
  sent_ = SlotSet(slots_);
  step_since_.reset();
  begun_count_ = 0;
}

std::vector<SlotRange> ReplayedWorker::ranges() const {
  if (now_ && now_->step == step_) {
    return now_->ranges;
  }
  const auto standing = standing_at(step_);
  return standing.empty() ? std::vector<SlotRange>() : std::vector{standing};
}

std::optional<Slot> ReplayedWorker::next() const {
  for (const auto range : ranges()) {
    for (auto slot = range.begin; slot < range.end; ++slot) {
      if (!computed_.contains(slot)) {
        return slot;
      }
    }
  }
  return std::nullopt;
}

std::vector<Node> ReplayedWorker::compute(Slot slot, double now) {
  in_hand_ = slot;
  in_hand_since_ = now;
  step_since_ = step_since_.value_or(now);
  ++begun_count_;
  computed_.insert({slot, slot + 1});
  std::vector<Node> nodes;
  for (const auto range : ranges()) {
    if (range.contains(slot)) {
      complete(range, nodes);
    }
  }
  return nodes;
}

void ReplayedWorker::end_slot(double now) {
  in_hand_ = kNoSlot;
  slot_times_.observe(static_cast<Micros>(now - in_hand_since_));
}

// The nodes of what is not sent of the range, as far as all their slots are computed.
void ReplayedWorker::complete(SlotRange range, std::vector<Node>& nodes, Slot without) {
  while (range.begin < range.end && sent_.contains(range.begin)) {
    ++range.begin;
  }
  for (const auto node : tree::cover(range, slots_)) {
    auto missing = node.begin;
    while (missing < node.end && missing != without && computed_.contains(missing)) {
      ++missing;
    }
    if (missing < node.end) {
      return;
    }
    sent_.insert(node);
    nodes.push_back(node);
  }
}

std::vector<Node> ReplayedWorker::left_over() {
  auto left = computed_;
  left.erase(sent_);
  if (in_hand_ != kNoSlot) {
    left.erase({in_hand_, in_hand_ + 1});
  }
  std::vector<Node> nodes;
  for (const auto range : ranges()) {
    complete(range, nodes, in_hand_);
    left.erase(range);  // the rest of it is completed by what comes after
  }
  for (const auto run : left.runs()) {
    complete(run, nodes);
  }
  return nodes;
}

SlotProgress ReplayedWorker::progress(double now, double unsent) const {
  SlotProgress progress;
  progress.step = step_;
  auto computed = computed_;
  if (in_hand_ != kNoSlot) {
    computed.erase({in_hand_, in_hand_ + 1});
    progress.in_hand_for = static_cast<std::uint64_t>(now - in_hand_since_);
  }
  progress.computed = computed.runs();
  progress.in_hand = in_hand_;
  progress.begun = step_since_ ? static_cast<std::uint64_t>(now - *step_since_) + 1 : 0;
  progress.slot_time = slot_times_.median();
  progress.up = static_cast<std::uint64_t>(times_.up * 1e6);
  progress.down = static_cast<std::uint64_t>(times_.down * 1e6);
  progress.without_receipt = static_cast<std::uint64_t>(unsent);
  return progress;
}

}  // namespace ballast::insight
