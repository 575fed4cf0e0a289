#include "protocol/worker/item_work.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

// The next grant has to be there when the gradients of the one in hand are sent, for the pull goes with them: with
// fewer left, a session whose items take no longer than the lead's answer would stand still until it comes.
constexpr std::ptrdiff_t kGrantsInHand = 2;

}  // namespace

void ItemWork::take(const Assign& assign, bool begins) {
  if (begins) {
    grants_.clear();
  }
  const auto known = std::exchange(grants_, {});
  for (const auto& grant : assign.items.grants) {
    const auto same = std::ranges::find(known, grant, &GrantState::grant);
    grants_.push_back(same == known.end() ? GrantState{grant} : *same);
  }
  if (!assign.items.grants.empty()) {
    granted_step_ = assign.items.grants.back().item / slots_;
  }
}

SlotsAhead ItemWork::slot_of(const Grant& grant) const {
  const auto slot = static_cast<Slot>(grant.item % slots_);
  return {grant.item / slots_, {{slot, slot + 1}}};
}

std::optional<WorkerTarget> ItemWork::next() const {
  const auto open =
      std::find_if(grants_.begin(), grants_.end(), [](const GrantState& state) { return !state.computed; });
  if (open == grants_.end()) {
    return std::nullopt;
  }
  auto [step, ranges] = slot_of(open->grant);
  return WorkerTarget{WorkerTarget::Kind::train, {kNewestVersion, open->grant.clock}, step, std::move(ranges), {}};
}

void ItemWork::computed(const WorkerTarget& target) {
  for (auto& state : grants_) {
    state.computed = state.computed || state.grant.clock == target.weights.clock;
  }
}

void ItemWork::drop(Step step, Slot slot) {
  for (auto& state : grants_) {
    state.dropped = state.dropped || (state.computed && state.grant.item == updates(step) + slot);
  }
}

const Grant* ItemWork::grant_after(LeadNumber clock) const {
  const auto next = std::find_if(grants_.begin(), grants_.end(), [&](const GrantState& state) {
    return !state.computed && state.grant.clock != clock;
  });
  return next == grants_.end() ? nullptr : &next->grant;
}

std::optional<SlotsAhead> ItemWork::after(const WorkerTarget& target) const {
  const auto* next = grant_after(target.weights.clock);
  return next == nullptr ? std::nullopt : std::optional(slot_of(*next));
}

std::optional<WeightsKey> ItemWork::next_key(const WorkerTarget& target, std::optional<WeightsKey> /*asked*/) const {
  const auto* next = grant_after(target.weights.clock);
  return next == nullptr ? std::nullopt : std::optional(WeightsKey{kNewestVersion, next->clock});
}

bool ItemWork::is_short() const {
  return std::count_if(grants_.begin(), grants_.end(), [](const GrantState& state) { return !state.computed; }) <=
         kGrantsInHand;
}

std::vector<Grant> ItemWork::computed_grants() const {
  std::vector<Grant> grants;
  for (const auto& state : grants_) {
    if (state.computed && !state.dropped) {
      grants.push_back(state.grant);
    }
  }
  return grants;
}

std::vector<LeadNumber> ItemWork::dropped_grants() const {
  std::vector<LeadNumber> clocks;
  for (const auto& state : grants_) {
    if (state.dropped) {
      clocks.push_back(state.grant.clock);
    }
  }
  return clocks;
}

}  // namespace ballast
