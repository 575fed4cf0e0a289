// The slots that a computation has before it, which may become others while it runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// Of one step. Slots are taken one at a time, range after range, each once. next(), take() and ahead() cost nothing
// that grows with the slots, but for those skipped because they were taken before. Pure and copyable. Not thread-safe.
class SlotList {
 public:
  SlotList(Slot slots, std::vector<SlotRange> ranges) : taken_(slots) { become(std::move(ranges)); }

  // What was taken stays taken.
  void become(std::vector<SlotRange> ranges) {
    ranges_ = std::move(ranges);
    SlotSet ahead(taken_.slots());
    for (const auto range : ranges_) {
      ahead.insert(range);
    }
    ahead.erase(taken_);
    ahead_ = ahead.count();
    range_ = 0;
    next_ = ranges_.empty() ? 0 : ranges_.front().begin;
    skip_taken();
  }

  // The next slot; none if all are taken.
  [[nodiscard]] std::optional<Slot> next() const {
    return range_ < ranges_.size() ? std::optional(next_) : std::nullopt;
  }
  std::optional<Slot> take() {
    const auto slot = next();
    if (slot) {
      taken_.insert({*slot, *slot + 1});
      --ahead_;
      skip_taken();
    }
    return slot;
  }
  // So many are on the list and not taken.
  [[nodiscard]] Slot ahead() const { return ahead_; }

  // Where the consecutive slots that begin with this one, which was taken, end: the first that is not in its range, or
  // was taken before. The slot itself if it is on the list no more.
  [[nodiscard]] Slot run_end(Slot slot) const {
    const auto range = std::ranges::find_if(ranges_, [&](SlotRange each) { return each.contains(slot); });
    if (range == ranges_.end()) {
      return slot;
    }
    Slot end = slot + 1;
    while (end < range->end && !taken_.contains(end)) {
      ++end;
    }
    return end;
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(taken_), listed::plain(ranges_, range_, next_, ahead_));
  }

 private:
  void skip_taken() {
    while (range_ < ranges_.size()) {
      for (; next_ < ranges_[range_].end; ++next_) {
        if (!taken_.contains(next_)) {
          return;
        }
      }
      ++range_;
      next_ = range_ < ranges_.size() ? ranges_[range_].begin : 0;
    }
  }

  SlotSet taken_;
  std::vector<SlotRange> ranges_;
  // By those: the first range with a slot that is not taken, that slot, and how many there are.
  std::size_t range_ = 0;
  Slot next_ = 0;
  Slot ahead_ = 0;
};

}  // namespace ballast
