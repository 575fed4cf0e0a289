#include "protocol/lane/open_pulls.h"

#include <algorithm>

namespace ballast {

void OpenPulls::wait(std::uint32_t place, const WantedVersion& wanted) {
  wait_no_more(place, wanted.averages);
  asked(wanted).waiting.insert(place);
}

void OpenPulls::wait_no_more(std::uint32_t place, bool averages) {
  for (auto& each : asked_) {
    if (each.wanted.averages == averages) {
      each.waiting.erase(place);
    }
  }
  forget_answered();
}

std::vector<WantedVersion> OpenPulls::came_to(std::uint32_t place, Version newest) {
  std::vector<WantedVersion> came;
  for (auto& each : asked_) {
    if (each.wanted.version <= newest && each.waiting.erase(place)) {
      came.push_back(each.wanted);
    }
  }
  if (!came.empty()) {
    forget_answered();
  }
  return came;
}

void OpenPulls::defer(std::uint32_t place, const WantedVersion& wanted) {
  for (auto& each : asked_) {
    if (each.wanted.averages == wanted.averages) {
      deferred_ -= each.deferred.erase(place) ? 1 : 0;
    }
  }
  forget_answered();
  deferred_ += asked(wanted).deferred.insert(place) ? 1 : 0;
}

std::optional<Version> OpenPulls::lowest_awaited() const {
  std::optional<Version> lowest;
  for (const auto& each : asked_) {
    if (!each.waiting.empty()) {
      lowest = std::min(lowest.value_or(each.wanted.version), each.wanted.version);
    }
  }
  return lowest;
}

std::optional<OpenPulls::Deferred> OpenPulls::first_deferred() const {
  for (const auto& each : asked_) {
    if (const auto place = each.deferred.first()) {
      return Deferred{*place, each.wanted};
    }
  }
  return std::nullopt;
}

void OpenPulls::take(const Deferred& deferred) {
  deferred_ -= asked(deferred.wanted).deferred.erase(deferred.place) ? 1 : 0;
  forget_answered();
}

OpenPulls::Asked& OpenPulls::asked(const WantedVersion& wanted) {
  const auto found = std::ranges::find(asked_, wanted, &Asked::wanted);
  if (found != asked_.end()) {
    return *found;
  }
  if (asked_.size() >= kMost) {
    deferred_ -= asked_.front().deferred.count();
    asked_.pop_front();
  }
  return asked_.emplace_back(Asked{wanted, {}, {}});
}

void OpenPulls::forget_answered() {
  std::erase_if(asked_, [](const Asked& each) { return each.waiting.empty() && each.deferred.empty(); });
}

}  // namespace ballast
