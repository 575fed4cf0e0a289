// The set of work items that are covered: nearly all of them up to some point, and a few beyond.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/state_list.h"

namespace ballast {

// Its size is the number of gaps, not of items.
class CoveredItems {
 public:
  CoveredItems() = default;
  // Covers all items below `floor`.
  explicit CoveredItems(ItemId floor) { insert({0, floor}); }
  // From ranges in any order; empty ones are left out.
  explicit CoveredItems(const std::vector<ItemRange>& ranges);

  void insert(ItemId item) { insert(ItemRange{item, item + 1}); }
  void insert(ItemRange range);
  // Costs as much as there are ranges.
  void insert(const CoveredItems& other);
  // Costs as much as there are ranges.
  void erase(const CoveredItems& other) { ranges_ = without(other); }
  // What is in this set and not in the other one.
  [[nodiscard]] std::vector<ItemRange> without(const CoveredItems& other) const;

  [[nodiscard]] bool contains(ItemId item) const;
  // The first item that is not covered.
  [[nodiscard]] ItemId floor() const;
  // The first item beyond all that are covered.
  [[nodiscard]] ItemId ceiling() const { return ranges_.empty() ? 0 : ranges_.back().end; }
  // The first item at or after `item` that is not covered.
  [[nodiscard]] ItemId next_missing(ItemId item) const;
  // Maximal, disjoint, ascending; at most `most`, the lowest ones.
  [[nodiscard]] std::vector<ItemRange> ranges(std::size_t most = ~std::size_t{0}) const;
  [[nodiscard]] bool contains_all_of(const CoveredItems& other) const { return other.without(*this).empty(); }
  bool operator==(const CoveredItems&) const = default;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(ranges_));
  }

 private:
  std::vector<ItemRange> ranges_;  // maximal, disjoint, ascending
};

// Which items all of several sets have, as these grow item by item.
class SharedItems {
 public:
  // All of so many sets have the items below `floor`, and no other.
  SharedItems(ItemId floor, std::size_t sets) : sets_(sets), by_all_(floor) {}

  // One more of the sets has the item.
  void cover(ItemId item);
  [[nodiscard]] const CoveredItems& by_all() const { return by_all_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(sets_), listed::parts(by_all_), listed::plain(by_some_));
  }

 private:
  std::size_t sets_;
  CoveredItems by_all_;
  std::map<ItemId, std::size_t> by_some_;  // by how many
};

}  // namespace ballast
