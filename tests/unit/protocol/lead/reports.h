// Shards of one lane each, as the lead knows them by reports that a test writes itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "protocol/lead/course.h"
#include "protocol/lead/shard_roster.h"

namespace ballast::reports {

inline constexpr Timeline kTimeline = 1;

inline ShardRoster roster(const std::vector<LaneReport>& reports) {
  const auto shards = static_cast<std::uint32_t>(reports.size());
  ShardRoster roster(shards, 1, {100, 300, 1'000}, Ledger{});
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    ShardHello hello;
    hello.lane = {shard, 0};
    hello.incarnation = 10 + shard;
    hello.database = {1 + shard, 1};
    hello.lives = {{hello.incarnation, 0}};
    roster.admit(hello, 0);
    auto report = reports[shard];
    report.timeline = kTimeline;
    roster.take_report(hello.lane, report, true);
  }
  return roster;
}

// All have reported.
inline void observe(Course& course, ShardRoster shards, Micros now) {
  const auto news = shards.take_news();
  course.observe(shards, news, now);
}

// Of a job in rounds.
inline LaneReport at_step(Step open, std::vector<std::uint64_t> missing = {}) {
  LaneReport report;
  report.open_step = open;
  report.rounds.missing = std::move(missing);
  return report;
}

// Of a job in item mode with two slots: the items below `floor` are covered, those below `reached` are accepted.
inline LaneReport at_item(ItemId floor, ItemId reached, Version planned = 1'000) {
  LaneReport report;
  report.timeline = kTimeline;
  report.serving = true;
  report.open_step = floor / 2;
  report.items.covered = {{0, floor}};
  report.items.reached = reached;
  report.planned = planned;
  return report;
}

}  // namespace ballast::reports
