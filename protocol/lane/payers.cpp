#include "protocol/lane/payers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace ballast {

bool Payers::may_be_called(PayerId payer, Micros now) const {
  const auto found = payers_.find(payer);
  if (found == payers_.end() || found->second.owes == 0) {
    return true;
  }
  const auto& state = found->second;
  return now - state.pauses_from >= pause_ << std::min(state.doublings - 1, kMostPauseDoublings);
}

bool Payers::fails(PayerId payer, Micros now, bool taken_back) {
  const bool was_good = is_good(payer);
  if (!payers_.contains(payer)) {
    make_room();
  }
  auto& state = payers_[payer];
  state.owes = std::uint32_t{1} << state.doublings;
  state.doublings = std::min(state.doublings + 1, kMostDoublings);
  state.paid = 0;
  state.taken_back = std::min(state.taken_back + (taken_back ? 1 : 0), kMostTakenBack);
  state.failed_at = ++failures_;
  state.pauses_from = now;
  return was_good;
}

bool Payers::is_struck(PayerId payer) {
  if (!payers_.contains(payer)) {
    make_room();
  }
  return std::exchange(payers_[payer].was_struck, true);
}

bool Payers::pays(PayerId payer) {
  const auto found = payers_.find(payer);
  if (found == payers_.end()) {
    return false;
  }
  auto& state = found->second;
  state.taken_back = 0;
  state.was_struck = false;
  if (state.owes > 0) {
    return --state.owes == 0;
  }
  if (++state.paid == kForgiven) {
    payers_.erase(found);
  }
  return false;
}

std::vector<PayerId> Payers::out() const {
  std::vector<std::pair<std::uint64_t, PayerId>> by_failure;
  for (const auto& [payer, state] : payers_) {
    if (state.owes > 0) {
      by_failure.emplace_back(state.failed_at, payer);
    }
  }
  std::ranges::sort(by_failure, std::greater());
  std::vector<PayerId> out;
  std::ranges::transform(by_failure, std::back_inserter(out), [](const auto& each) { return each.second; });
  return out;
}

void Payers::make_room() {
  if (payers_.size() < kMostKept) {
    return;
  }
  payers_.erase(std::min_element(payers_.begin(), payers_.end(), [](const auto& left, const auto& right) {
    return left.second.failed_at < right.second.failed_at;
  }));
}

}  // namespace ballast
