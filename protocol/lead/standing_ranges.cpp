#include "protocol/lead/standing_ranges.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

const StandingRanges::Ranges kNobody;

}  // namespace

void StandingRanges::divide(Ranges ranges, Step from) {
  ++generation_;
  std::erase_if(divisions_, [&](const Division& old) { return old.from >= from; });
  divisions_.push_back({from, std::move(ranges)});
}

void StandingRanges::lose(SessionId session) {
  for (auto& division : divisions_) {
    division.ranges.erase(session);
  }
}

void StandingRanges::forget_before(Step open) {
  while (divisions_.size() > 1 && divisions_[1].from <= open) {
    divisions_.erase(divisions_.begin());
  }
}

const StandingRanges::Ranges& StandingRanges::at(Step step) const {
  const auto later = std::ranges::find_if(divisions_, [&](const Division& division) { return division.from > step; });
  return later == divisions_.begin() ? kNobody : std::prev(later)->ranges;
}

const StandingRanges::Ranges& StandingRanges::newest() const {
  return divisions_.empty() ? kNobody : divisions_.back().ranges;
}

Standing StandingRanges::standing(SessionId session, Step until) const {
  if (divisions_.empty()) {
    return {};
  }
  const auto& division = divisions_.back();
  const auto range = division.ranges.find(session);
  return {division.from, std::max(until, division.from), range == division.ranges.end() ? SlotRange{} : range->second};
}

}  // namespace ballast
