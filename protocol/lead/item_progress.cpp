#include "protocol/lead/item_progress.h"

#include <iterator>
#include <utility>

namespace ballast {

// What lanes have lost first: an item that one has lost and another gained was never with all.
ItemProgress::Change ItemProgress::take(const ShardRoster& shards, const std::set<LaneId>& news) {
  Change change;
  const auto all = shards.lanes().size();
  for (const auto id : news) {
    const auto& report = shards.lanes().at(id).report;
    auto& lane = lanes_[id];
    plan(lane, report.open_step < steps_ ? std::optional(report.planned) : std::nullopt);
    for (const auto& range : lane.covered.without(CoveredItems(report.items.covered))) {
      count(range, false, all, change.lost);
    }
  }
  for (const auto id : news) {
    auto& known = lanes_.at(id).covered;
    CoveredItems covered(shards.lanes().at(id).report.items.covered);
    for (const auto& range : covered.without(known)) {
      count(range, true, all, change.gained);
    }
    known = std::move(covered);
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

ItemProgress::Counts::iterator ItemProgress::split(ItemId item) {
  const auto after = lanes_with_.upper_bound(item);
  return lanes_with_.try_emplace(after, item, std::prev(after)->second);
}

void ItemProgress::count(ItemRange range, bool more, std::size_t all, CoveredItems& changed) {
  const auto end = split(range.end);
  for (auto run = split(range.begin); run != end; ++run) {
    const auto before = run->second;
    run->second += more ? 1 : std::size_t{0} - 1;
    if ((before == all) != (run->second == all)) {
      changed.insert({run->first, std::next(run)->first});
    }
  }
  // Neighbours that are alike are one.
  const auto past = std::next(end);
  for (auto run = lanes_with_.lower_bound(range.begin); run != past;) {
    run = run != lanes_with_.begin() && std::prev(run)->second == run->second ? lanes_with_.erase(run) : std::next(run);
  }
}

}  // namespace ballast
