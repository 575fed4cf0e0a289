#include "protocol/covered_items.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace ballast {

CoveredItems::CoveredItems(const std::vector<ItemRange>& ranges) {
  ranges_.reserve(ranges.size());
  for (const auto& range : ranges) {
    insert(range);
  }
}

// Mostly at the end, where it costs nothing to speak of.
void CoveredItems::insert(ItemRange range) {
  if (range.begin >= range.end) {
    return;
  }
  const auto first = std::ranges::lower_bound(ranges_, range.begin, {}, &ItemRange::end);
  auto last = first;
  for (; last != ranges_.end() && last->begin <= range.end; ++last) {
    range = {std::min(range.begin, last->begin), std::max(range.end, last->end)};
  }
  if (first == last) {
    ranges_.insert(first, range);
  } else {
    *first = range;
    ranges_.erase(first + 1, last);
  }
}

void CoveredItems::insert(const CoveredItems& other) {
  std::vector<ItemRange> ranges;
  ranges.reserve(ranges_.size() + other.ranges_.size());
  std::ranges::merge(ranges_, other.ranges_, std::back_inserter(ranges), {}, &ItemRange::begin, &ItemRange::begin);
  ranges_.clear();
  for (const auto& range : ranges) {
    insert(range);
  }
}

std::vector<ItemRange> CoveredItems::without(const CoveredItems& other) const {
  std::vector<ItemRange> rest;
  auto taken = other.ranges_.begin();
  for (auto range : ranges_) {
    while (taken != other.ranges_.end() && taken->end <= range.begin) {
      ++taken;
    }
    for (auto next = taken; next != other.ranges_.end() && next->begin < range.end; ++next) {
      if (range.begin < next->begin) {
        rest.push_back({range.begin, next->begin});
      }
      range.begin = std::min(next->end, range.end);
    }
    if (range.begin < range.end) {
      rest.push_back(range);
    }
  }
  return rest;
}

bool CoveredItems::contains(ItemId item) const { return next_missing(item) != item; }

ItemId CoveredItems::floor() const { return next_missing(0); }

ItemId CoveredItems::next_missing(ItemId item) const {
  const auto here = std::ranges::upper_bound(ranges_, item, {}, &ItemRange::end);
  return here != ranges_.end() && here->begin <= item ? here->end : item;
}

std::vector<ItemRange> CoveredItems::ranges(std::size_t most) const {
  return {ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranges_.size()))};
}

void SharedItems::cover(ItemId item) {
  if (++by_some_[item] == sets_) {
    by_some_.erase(item);
    by_all_.insert(item);
  }
}

}  // namespace ballast
