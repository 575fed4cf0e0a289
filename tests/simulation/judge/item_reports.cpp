#include "tests/simulation/judge/item_reports.h"

#include <algorithm>
#include <set>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

// By item.
std::vector<bool> covered(const LifeSpec& life, const ItemHistories::History& known, std::uint32_t lane) {
  std::vector<std::uint32_t> counts(life.steps * life.slots);
  std::uint32_t chunks = 0;
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    if (life.chunks[chunk].lane == lane) {
      ++chunks;
      for (std::size_t i = 0; i < known.chunks[chunk].applied; ++i) {
        ++counts[known.chunks[chunk].entries[i].item];
      }
    }
  }
  std::vector<bool> covered(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    covered[i] = counts[i] == chunks;
  }
  return covered;
}

std::vector<bool> said_to_be_covered(const LaneReport& report, std::size_t items) {
  std::vector<bool> said(items);
  for (const auto& range : report.items.covered) {
    require(range.begin < range.end && range.end <= items, "a lane covers items that cannot be");
    std::fill(said.begin() + static_cast<std::ptrdiff_t>(range.begin),
              said.begin() + static_cast<std::ptrdiff_t>(range.end), true);
  }
  return said;
}

ItemId reached(const LifeSpec& life, const ItemHistories::History& known, std::uint32_t lane) {
  ItemId reached = 0;
  for (ChunkId chunk = 0; chunk < known.chunks.size(); ++chunk) {
    if (life.chunks[chunk].lane == lane) {
      for (const auto& entry : known.chunks[chunk].entries) {
        reached = std::max(reached, entry.item + 1);
      }
    }
  }
  return reached;
}

void check_covered(const LifeSpec& life, const ItemHistories::History& known, const LaneLife& lane,
                   const LaneReport& report) {
  const auto what = "lane " + std::to_string(lane.lane) + " reports ";
  const auto truth = covered(life, known, lane.lane);
  if (said_to_be_covered(report, truth.size()) != truth) {
    throw Violation(what + "other items as covered than are");
  }
  if (const auto item = reached(life, known, lane.lane); report.items.reached != item) {
    throw Violation(what + "to have reached item " + std::to_string(report.items.reached) + ", but it is item " +
                    std::to_string(item));
  }
  const auto floor = static_cast<ItemId>(std::find(truth.begin(), truth.end(), false) - truth.begin());
  if (report.open_step != floor / life.slots) {
    throw Violation(what + "step " + std::to_string(report.open_step) + " as open, but it is step " +
                    std::to_string(floor / life.slots));
  }
}

void check_counts(const LaneCounts& counts, const LaneLife& lane, const LaneReport& report) {
  const auto what = "lane " + std::to_string(lane.lane) + " reports ";
  auto staleness = report.items.staleness;
  staleness.expired = 0;
  if (!(staleness == counts.staleness)) {
    throw Violation(what + "another staleness than was");
  }
  for (const auto& [life, sequence] : counts.marks) {
    const auto is_of_it = [&life = life, &sequence = sequence](const JournalMark& mark) {
      return mark.shard == life.first && mark.incarnation == life.second && mark.sequence >= sequence;
    };
    if (std::none_of(report.items.marks.begin(), report.items.marks.end(), is_of_it)) {
      throw Violation(what + "nothing of what its updates rest on of shard " + std::to_string(life.first));
    }
  }
  for (const auto& mark : report.items.marks) {
    const auto noted = counts.marks.find({mark.shard, mark.incarnation});
    if (noted == counts.marks.end() || noted->second < mark.sequence) {
      throw Violation(what + "that it rests on what no update rests on, of shard " + std::to_string(mark.shard));
    }
  }
}

}  // namespace

void check_report(const LifeSpec& life, const ItemHistories::History& known, const LaneCounts& counts,
                  const LaneLife& lane, const LaneReport& report) {
  check_covered(life, known, lane, report);
  check_counts(counts, lane, report);
  check_statistics(known, report.statistics);
}

void check_statistics(const ItemHistories::History& known, const std::vector<StepStatistics>& statistics) {
  for (const auto& step : statistics) {
    const auto sums = known.statistics.find(step.step);
    if (sums == known.statistics.end() ||
        std::find(sums->second.begin(), sums->second.end(), step) == sums->second.end()) {
      throw Violation("the statistics of step " + std::to_string(step.step) +
                      " are not the sum over its items, or some are still to come");
    }
  }
}

void check_taken(const LifeSpec& life, const ItemHistories& histories, SnapshotId id, ChunkId chunk,
                 const ChunkValue& found) {
  const auto& known = histories.of(id.timeline).chunks[chunk];
  const auto updates = life.updates(id.step);
  const auto what = "the snapshot of step " + std::to_string(id.step) + ": chunk " + std::to_string(chunk);
  if (known.applied != updates || known.entries.size() != known.applied) {
    throw Violation(what + " is taken at another version");
  }
  for (const auto& entry : known.entries) {
    if (entry.item >= updates) {
      throw Violation(what + " is taken with item " + std::to_string(entry.item) + ", so it is no cut");
    }
  }
  require(found == histories.value(id.timeline, chunk, updates), "a chunk is taken into a snapshot with other weights");
}

void check_items(const LifeSpec& life, const ItemHistories::Chunk& known, SnapshotId id, ChunkId chunk) {
  const auto updates = life.updates(id.step);
  std::set<ItemId> items;
  for (Version version = 0; version < std::min<Version>(known.applied, updates); ++version) {
    items.insert(known.entries[version].item);
  }
  if (items.size() != updates || (!items.empty() && *items.rbegin() >= updates)) {
    throw Violation("chunk " + std::to_string(chunk) + " of the snapshot of step " + std::to_string(id.step) +
                    " does not hold every item of the steps before once");
  }
}

}  // namespace ballast::simulation
