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
    const bool is_computed = std::any_of(known.begin(), known.end(),
                                         [&](const GrantState& old) { return old.grant == grant && old.computed; });
    grants_.push_back({grant, is_computed});
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
  for (auto& [grant, is_computed] : grants_) {
    is_computed = is_computed || grant.clock == target.weights.clock;
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
  for (const auto& [grant, is_computed] : grants_) {
    if (is_computed) {
      grants.push_back(grant);
    }
  }
  return grants;
}

}  // namespace ballast
