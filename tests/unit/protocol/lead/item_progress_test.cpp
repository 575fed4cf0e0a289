#include "protocol/lead/item_progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/unit/protocol/lead/reports.h"

using namespace ballast;
using namespace ballast::reports;

namespace {

constexpr ItemId kItems = 20;
constexpr Step kSteps = 10;

LaneReport random_report(std::mt19937_64& random) {
  LaneReport report;
  for (ItemId begin = 0; begin < kItems;) {
    const ItemRange range{begin + random() % 3, begin + 3 + random() % 4};
    report.items.covered.push_back(range);
    begin = range.end + 1 + random() % 4;
  }
  report.planned = random() % 50;
  report.open_step = random() % 4 == 0 ? kSteps : 1;  // some have no chunks
  return report;
}

bool all_have(const ShardRoster& shards, ItemId item) {
  return std::ranges::all_of(
      shards.lanes(), [&](const auto& lane) { return CoveredItems(lane.second.report.items.covered).contains(item); });
}

std::optional<Version> least_planned(const ShardRoster& shards) {
  std::optional<Version> least;
  for (const auto& [id, lane] : shards.lanes()) {
    if (lane.report.open_step < kSteps) {
      least = std::min(least.value_or(lane.report.planned), lane.report.planned);
    }
  }
  return least;
}

}  // namespace

TEST_CASE("what all lanes have is that of a look at all of them, whichever have reported") {
  std::mt19937_64 random(1);
  for (int life = 0; life < 50; ++life) {
    auto shards = roster({random_report(random), random_report(random), random_report(random)});
    ItemProgress progress(kSteps);
    CoveredItems by_all;
    for (int turn = 0; turn < 50; ++turn) {
      const auto change = progress.take(shards, shards.take_news());
      by_all.erase(change.lost);
      for (const auto& range : change.gained.ranges()) {
        by_all.insert(range);
      }
      for (ItemId item = 0; item < kItems + 10; ++item) {
        CHECK(by_all.contains(item) == all_have(shards, item));
      }
      CHECK(progress.planned() == least_planned(shards));
      for (auto reports = random() % 3; reports > 0; --reports) {
        shards.take_report({static_cast<std::uint32_t>(random() % 3), 0}, random_report(random), true);
      }
    }
  }
}

TEST_CASE("what one lane has lost when another gains it was never with all") {
  auto shards = roster({at_item(2, 2), at_item(0, 0)});
  ItemProgress progress(kSteps);
  CHECK(progress.take(shards, shards.take_news()).gained == CoveredItems());
  shards.take_report({0, 0}, at_item(0, 0), true);
  shards.take_report({1, 0}, at_item(2, 2), true);
  const auto change = progress.take(shards, shards.take_news());
  CHECK(change.gained == CoveredItems());
  CHECK(change.lost == CoveredItems());
}
