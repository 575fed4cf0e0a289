#include "cli/advising/item_bound.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "insight/replay_parts.h"

namespace ballast {
namespace {

// Of the slots of all steps that were drawn for it, the mean.
double slot_of(const insight::WorkerTimes& worker) {
  double sum = 0;
  double count = 0;
  for (const auto& step : worker.slots) {
    sum = std::accumulate(step.begin(), step.end(), sum);
    count += static_cast<double>(step.size());
  }
  return count > 0 ? sum / count : worker.slot;
}

}  // namespace

double item_bound(const insight::JobTimes& times) {
  std::vector<double> lanes(times.lanes.size());
  std::vector<double> shards(times.shards.size());
  double model = 0;
  for (std::size_t chunk = 0; chunk < times.bytes.size(); ++chunk) {
    const auto lane = times.lane_of[chunk];
    lanes[lane] += times.lanes[lane].message + times.sum[chunk] + times.apply[chunk];
    shards[times.lanes[lane].shard] += times.bytes[chunk];
    model += times.bytes[chunk];
  }
  double an_item = std::max(insight::span_of(model, times.servers.in), insight::span_of(model, times.servers.out));
  an_item = std::max(an_item, lanes.empty() ? 0 : std::ranges::max(lanes));
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    an_item = std::max({an_item, insight::span_of(shards[shard], times.shards[shard].in),
                        insight::span_of(shards[shard], times.shards[shard].out)});
  }
  double a_micro = 0;  // items that all workers together can make in one
  for (const auto& worker : times.workers) {
    // Each gradient that it sends asks for the chunk's newest weights, and all of these are there before its next slot.
    const auto slot = slot_of(worker);
    const auto first = worker.ready.empty() ? 0 : slot * std::ranges::min(worker.ready);
    a_micro += 1 / std::max({slot + worker.between, worker.fetch, first + insight::span_of(model, worker.up),
                             first + insight::span_of(model, worker.down), std::numeric_limits<double>::min()});
  }
  return times.rules.slots * std::max(an_item, 1 / a_micro);
}

}  // namespace ballast
