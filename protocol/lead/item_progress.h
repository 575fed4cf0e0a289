// In item mode: which items all lanes have, and how far all of them are planned.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "protocol/covered_items.h"
#include "protocol/ids.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/state_list.h"

namespace ballast {

// Kept up with each lane's report, at the cost of the ranges that it lists and of what it changes.
// Pure and copyable. Not thread-safe.
class ItemProgress {
 public:
  // Items that all lanes have now and had not, and the other way round; an item may be in both.
  struct Change {
    CoveredItems lost;
    CoveredItems gained;  // since then
  };

  // Lanes at step `steps` have no chunks, and are planned nowhere.
  explicit ItemProgress(Step steps) : steps_(steps) {}

  // The newest reports of these lanes. By the first call all lanes have reported.
  Change take(const ShardRoster& shards, const std::set<LaneId>& news);
  void rewind() { *this = ItemProgress(steps_); }

  // The least of all lanes with chunks; none: there is no such lane.
  [[nodiscard]] std::optional<Version> planned() const {
    return planned_.empty() ? std::nullopt : std::optional(planned_.begin()->first);
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(steps_), listed::parts(lanes_), listed::plain(planned_, runs_));
  }

 private:
  struct Lane {
    CoveredItems covered;
    std::optional<Version> planned;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::parts(covered), listed::plain(planned));
    }
  };
  // Items from here to the next run.
  struct Run {
    ItemId from = 0;
    std::size_t lanes = 0;  // that have them
    bool operator==(const Run&) const = default;
  };

  void plan(Lane& lane, std::optional<Version> planned);
  // One more lane, or one less, has the items of the ranges, which are disjoint and ascend. Adds to `changed` those
  // that all have now, or had.
  void count(const std::vector<ItemRange>& ranges, int more, std::size_t all, CoveredItems& changed);

  Step steps_;
  std::map<LaneId, Lane> lanes_;
  std::map<Version, std::size_t> planned_;  // lanes with chunks, by how far they are planned
  std::vector<Run> runs_{{0, 0}};           // neighbours differ
};

}  // namespace ballast
