// The slots that a computation has before it, which may become others while it runs.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// Of one step. Slots are taken one at a time, range after range, each once. Pure and copyable. Not thread-safe.
class SlotList {
 public:
  SlotList(Slot slots, std::vector<SlotRange> ranges) : taken_(slots), ranges_(std::move(ranges)) {}

  // What was taken stays taken.
  void become(std::vector<SlotRange> ranges) { ranges_ = std::move(ranges); }

  // The next slot; none if all are taken.
  [[nodiscard]] std::optional<Slot> next() const {
    for (const auto range : ranges_) {
      for (Slot slot = range.begin; slot < range.end; ++slot) {
        if (!taken_.contains(slot)) {
          return slot;
        }
      }
    }
    return std::nullopt;
  }
  std::optional<Slot> take() {
    const auto slot = next();
    if (slot) {
      taken_.insert({*slot, *slot + 1});
    }
    return slot;
  }

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
  // Whether nothing follows that run.
  [[nodiscard]] bool is_last_run(Slot slot) const {
    const auto end = run_end(slot);
    return std::ranges::all_of(ranges_, [&](SlotRange range) {
      for (Slot other = range.begin; other < range.end; ++other) {
        if (!taken_.contains(other) && !(slot < other && other < end)) {
          return false;
        }
      }
      return true;
    });
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(taken_), listed::plain(ranges_));
  }

 private:
  SlotSet taken_;
  std::vector<SlotRange> ranges_;  // disjoint
};

}  // namespace ballast
