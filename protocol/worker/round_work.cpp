#include "protocol/worker/round_work.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ballast {

void RoundWork::take(const Assign& assign, bool begins) {
  const auto& standing = assign.rounds.standing;
  if (begins) {
    standing_.clear();
    done_.clear();
    begun_ = SlotSet(slots_);
    updated_ = 0;
    cursor_ = standing.from;
  }
  // An order without one, as where all stop, gives nothing back of a step that others have got something of.
  if (begins || assign.rounds.now) {
    now_ = assign.rounds.now;
  }
  forget_updated();
  const bool is_same =
      !standing_.empty() && standing_.back().from == standing.from && standing_.back().slots == standing.slots;
  std::erase_if(standing_, [&](const Standing& old) { return old.from >= assign.rounds.standing.from; });
  for (auto& old : standing_) {
    old.until = std::min(old.until, standing.from);
  }
  standing_.push_back(standing);
  // A lead that has not heard yet that a step is open may divide it anew when this session has done its part by the
  // division before.
  if (!is_same) {
    cursor_ = std::min(cursor_, std::max(standing.from, updated_));
  }
  if (now_) {
    cursor_ = std::max(cursor_, now_->step);
  }
}

void RoundWork::begins(const WorkerTarget& target) {
  updated_ = std::max(updated_, target.step);
  forget_updated();
}

// The order was on its way meanwhile. Its step's weights are gone, or soon will be, and nobody waits for its slots.
void RoundWork::forget_updated() {
  if (now_ && now_->step < updated_) {
    now_.reset();
  }
}

const Standing* RoundWork::standing_at(Step step) const {
  const auto found = std::find_if(standing_.begin(), standing_.end(), [&](const Standing& standing) {
    return standing.from <= step && step < standing.until;
  });
  return found == standing_.end() ? nullptr : &*found;
}

// As far as it is known.
std::vector<SlotRange> RoundWork::ordered(Step step) const {
  if (now_ && step < now_->step) {
    return {};
  }
  const bool is_ordered = now_ && step == now_->step;
  auto ranges = is_ordered ? now_->ranges : std::vector<SlotRange>{};
  if (const auto* standing = standing_at(step);
      (!is_ordered || now_->as_well) && standing != nullptr && !standing->slots.empty()) {
    ranges.push_back(standing->slots);
  }
  return ranges;
}

// Of that, what no computation that has ended has done, each slot once.
std::vector<SlotRange> RoundWork::left(Step step) const {
  const auto done = done_.find(step);
  auto without = done == done_.end() ? SlotSet(slots_) : done->second;
  std::vector<SlotRange> left;
  for (const auto range : ordered(step)) {
    SlotSet todo(slots_);
    todo.insert(range);
    todo.erase(without);
    without.insert(range);
    std::ranges::copy(todo.runs(), std::back_inserter(left));
  }
  return left;
}

// Of steps before the order's, and long before the cursor's, nothing is computed any more.
void RoundWork::forget_done() {
  const auto recent = cursor_ - std::min<Step>(cursor_, 2);
  done_.erase(done_.begin(), done_.lower_bound(now_ ? std::min(recent, now_->step) : recent));
}

void RoundWork::move_cursor() {
  forget_done();
  if (now_ && cursor_ == now_->step) {
    if (!left(cursor_).empty()) {
      return;
    }
    // With no slot of its own, an order that is still to come says which step is next; from a lead of version 13 none
    // may come.
    if (const auto* standing = standing_at(cursor_);
        !now_->as_well && (standing == nullptr || standing->slots.empty())) {
      return;
    }
    ++cursor_;
  }
  for (const auto& standing : standing_) {
    if (cursor_ >= standing.until) {
      continue;
    }
    cursor_ = std::max(cursor_, standing.from);
    if (standing.slots.empty()) {
      continue;  // nothing to do there, but a newer order may fill it: the cursor stays for it
    }
    while (cursor_ < standing.until && left(cursor_).empty()) {
      ++cursor_;
    }
    if (cursor_ < standing.until) {
      break;
    }
  }
  while (standing_.size() > 1 && standing_.front().until <= cursor_) {
    standing_.erase(standing_.begin());
  }
}

std::optional<WorkerTarget> RoundWork::next() {
  move_cursor();
  for (const auto step : {now_ ? now_->step : cursor_, cursor_}) {
    if (auto work = left(step); !work.empty()) {
      begun_ = SlotSet(slots_);
      told_ = work;
      return WorkerTarget{WorkerTarget::Kind::train, {step, kNoLeadNumber}, step, std::move(work), {}};
    }
  }
  return std::nullopt;
}

std::optional<std::vector<SlotRange>> RoundWork::amend(const WorkerTarget& target) {
  auto work = left(target.step);
  if (work == told_) {
    return std::nullopt;
  }
  told_ = work;
  return work;
}

void RoundWork::begun(Slot slot) { begun_.insert({slot, slot + 1}); }

void RoundWork::computed(const WorkerTarget& target) {
  done_.try_emplace(target.step, slots_).first->second.insert(begun_);
  begun_ = SlotSet(slots_);
}

void RoundWork::give_up(Step step, SlotRange slots) {
  if (const auto done = done_.find(step); done != done_.end()) {
    done->second.erase(slots);
  }
  begun_.erase(slots);
}

SlotSet RoundWork::begun_of(Step step) const {
  auto slots = begun_;
  if (const auto done = done_.find(step); done != done_.end()) {
    slots.insert(done->second);
  }
  return slots;
}

std::optional<SlotsAhead> RoundWork::after(const WorkerTarget& target) const {
  auto work = left(target.step + 1);
  return work.empty() ? std::nullopt : std::optional(SlotsAhead{target.step + 1, std::move(work)});
}

std::optional<WeightsKey> RoundWork::next_key(const WorkerTarget& target, std::optional<WeightsKey> asked) const {
  const bool is_wanted =
      target.step == cursor_ && !left(target.step + 1).empty() && !(asked && asked->version > target.step);
  return is_wanted ? std::optional(WeightsKey{target.step + 1, kNoLeadNumber}) : std::nullopt;
}

void RoundWork::gone(Version version, Version newest) {
  if (now_ && now_->step <= version) {
    now_.reset();
  }
  if (cursor_ <= version && newest > 0) {
    // Every chunk is at newest - 1 at least; and where that is gone too, it is the lane's first, the timeline's base.
    cursor_ = std::max(cursor_, version + 1 == newest ? newest : newest - 1);
    updated_ = std::max(updated_, cursor_);
  }
}

}  // namespace ballast
