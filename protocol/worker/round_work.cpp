#include "protocol/worker/round_work.h"

#include <algorithm>
#include <utility>

namespace ballast {

void RoundWork::take(const Assign& assign, bool begins) {
  if (begins) {
    standing_.clear();
    done_.clear();
    cursor_ = assign.rounds.standing.from;
  }
  extra_ = assign.rounds.extra;
  std::erase_if(standing_, [&](const Standing& old) { return old.from >= assign.rounds.standing.from; });
  for (auto& old : standing_) {
    old.until = std::min(old.until, assign.rounds.standing.from);
  }
  standing_.push_back(assign.rounds.standing);
  if (extra_ && assign.rounds.standing.slots.empty()) {
    cursor_ = std::max(cursor_, extra_->step);  // the oldest open one; without slots of its own nothing else moves it
  }
}

const Standing* RoundWork::standing_at(Step step) const {
  const auto found = std::find_if(standing_.begin(), standing_.end(), [&](const Standing& standing) {
    return standing.from <= step && step < standing.until;
  });
  return found == standing_.end() ? nullptr : &*found;
}

std::vector<SlotRange> RoundWork::without_done(Step step, SlotRange range) const {
  SlotSet todo(slots_);
  todo.insert(range);
  if (const auto done = done_.find(step); done != done_.end()) {
    todo.erase(done->second);
  }
  return todo.runs();
}

// As far as it is known; empty if there is none, or it is done.
std::vector<SlotRange> RoundWork::standing_work(Step step) const {
  const auto* standing = standing_at(step);
  return standing == nullptr ? std::vector<SlotRange>{} : without_done(step, standing->slots);
}

void RoundWork::move_cursor() {
  for (const auto& standing : standing_) {
    if (cursor_ >= standing.until) {
      continue;
    }
    cursor_ = std::max(cursor_, standing.from);
    if (standing.slots.empty()) {
      continue;  // nothing to do there, but a newer order may fill it: the cursor stays for it
    }
    while (cursor_ < standing.until && standing_work(cursor_).empty()) {
      ++cursor_;
    }
    if (cursor_ < standing.until) {
      break;
    }
  }
  while (standing_.size() > 1 && standing_.front().until <= cursor_) {
    standing_.erase(standing_.begin());
  }
  done_.erase(done_.begin(), done_.lower_bound(cursor_ < 2 ? 0 : cursor_ - 2));
}

std::optional<WorkerTarget> RoundWork::next() {
  move_cursor();
  if (extra_) {
    if (auto work = without_done(extra_->step, extra_->slots); !work.empty()) {
      return WorkerTarget{WorkerTarget::Kind::train, {extra_->step, 0}, extra_->step, std::move(work), {}};
    }
  }
  if (auto work = standing_work(cursor_); !work.empty()) {
    return WorkerTarget{WorkerTarget::Kind::train, {cursor_, 0}, cursor_, std::move(work), {}};
  }
  return std::nullopt;
}

void RoundWork::computed(const WorkerTarget& target) {
  auto& done = done_.try_emplace(target.step, slots_).first->second;
  for (const auto range : target.ranges) {
    done.insert(range);
  }
}

std::optional<SlotsAhead> RoundWork::after(const WorkerTarget& target) const {
  auto work = standing_work(target.step + 1);
  return work.empty() ? std::nullopt : std::optional(SlotsAhead{target.step + 1, std::move(work)});
}

std::optional<WeightsKey> RoundWork::next_key(const WorkerTarget& target, std::optional<WeightsKey> asked) const {
  const bool is_wanted =
      target.step == cursor_ && !standing_work(target.step + 1).empty() && !(asked && asked->version > target.step);
  return is_wanted ? std::optional(WeightsKey{target.step + 1, 0}) : std::nullopt;
}

void RoundWork::gone(Version version, Version newest) {
  if (extra_ && extra_->step <= version) {
    extra_.reset();
  }
  if (cursor_ <= version && newest > 0) {
    // Every chunk is at newest - 1 at least; and where that is gone too, it is the lane's first, the timeline's base.
    cursor_ = std::max(cursor_, version + 1 == newest ? newest : newest - 1);
  }
}

}  // namespace ballast
