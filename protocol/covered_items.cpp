#include "protocol/covered_items.h"

#include <algorithm>

namespace ballast {

void CoveredItems::insert(ItemRange range) {
  if (range.begin >= range.end) {
    return;
  }
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= range.begin) {
      range.begin = before->first;
      range.end = std::max(range.end, before->second);
      next = ranges_.erase(before);
    }
  }
  while (next != ranges_.end() && next->first <= range.end) {
    range.end = std::max(range.end, next->second);
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, range.begin, range.end);
}

void CoveredItems::intersect(const CoveredItems& other) {
  std::map<ItemId, ItemId> both;
  auto left = ranges_.begin();
  auto right = other.ranges_.begin();
  while (left != ranges_.end() && right != other.ranges_.end()) {
    const auto begin = std::max(left->first, right->first);
    const auto end = std::min(left->second, right->second);
    if (begin < end) {
      both.emplace(begin, end);
    }
    left->second < right->second ? ++left : ++right;
  }
  ranges_ = std::move(both);
}

bool CoveredItems::contains(ItemId item) const { return next_missing(item) != item; }

ItemId CoveredItems::floor() const { return next_missing(0); }

ItemId CoveredItems::next_missing(ItemId item) const {
  const auto next = ranges_.upper_bound(item);
  if (next == ranges_.begin()) {
    return item;
  }
  return std::max(item, std::prev(next)->second);
}

std::vector<ItemRange> CoveredItems::ranges(std::size_t most) const {
  std::vector<ItemRange> ranges;
  for (const auto& [begin, end] : ranges_) {
    if (ranges.size() == most) {
      break;
    }
    ranges.push_back({begin, end});
  }
  return ranges;
}

void SharedItems::cover(ItemId item) {
  if (++by_some_[item] == sets_) {
    by_some_.erase(item);
    by_all_.insert(item);
  }
}

}  // namespace ballast
