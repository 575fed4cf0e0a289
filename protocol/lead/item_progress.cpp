#include "protocol/lead/item_progress.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace ballast {

namespace {

constexpr auto kNoItem = std::numeric_limits<ItemId>::max();

}  // namespace

// What lanes have lost first: an item that one has lost and another gained was never with all.
ItemProgress::Change ItemProgress::take(const ShardRoster& shards, const std::set<LaneId>& news) {
  const auto all = shards.lanes().size();
  std::vector<CoveredItems> newest;
  newest.reserve(news.size());
  Change change;
  for (const auto id : news) {
    const auto& report = shards.lanes().at(id).report;
    auto& lane = lanes_[id];
    plan(lane, report.open_step < steps_ ? std::optional(report.planned) : std::nullopt);
    newest.emplace_back(report.items.covered);
    count(lane.covered.without(newest.back()), -1, all, change.lost);
  }
  auto covered = newest.begin();
  for (const auto id : news) {
    auto& known = lanes_.at(id).covered;
    count(covered->without(known), 1, all, change.gained);
    known = std::move(*covered++);
  }
  return change;
}

void ItemProgress::plan(Lane& lane, std::optional<Version> planned) {
  if (lane.planned) {
    const auto known = planned_.find(*lane.planned);
    if (--known->second == 0) {
      planned_.erase(known);
    }
  }
  lane.planned = planned;
  if (planned) {
    ++planned_[*planned];
  }
}

// One pass over all runs.
void ItemProgress::count(const std::vector<ItemRange>& ranges, int more, std::size_t all, CoveredItems& changed) {
  if (ranges.empty()) {
    return;
  }
  const auto first = std::prev(std::ranges::upper_bound(runs_, ranges.front().begin, {}, &Run::from));
  std::vector<Run> runs(runs_.begin(), first);
  const auto add = [&](ItemId from, std::size_t lanes) {
    if (runs.empty() || runs.back().lanes != lanes) {
      runs.push_back({from, lanes});
    }
  };
  auto range = ranges.begin();
  for (auto run = first; run != runs_.end(); ++run) {
    const auto end = std::next(run) == runs_.end() ? kNoItem : std::next(run)->from;
    for (auto at = run->from; at < end;) {
      const bool is_within = range != ranges.end() && range->begin <= at;
      const auto until = std::min(end, range == ranges.end() ? end : is_within ? range->end : range->begin);
      const auto lanes = is_within ? run->lanes + static_cast<std::size_t>(more) : run->lanes;
      add(at, lanes);
      if ((lanes == all) != (run->lanes == all)) {
        changed.insert({at, until});
      }
      at = until;
      range += is_within && at == range->end ? 1 : 0;
    }
  }
  runs_ = std::move(runs);
}

}  // namespace ballast
