#include "insight/calibration.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "insight/medians.h"
#include "insight/replay.h"

namespace ballast::insight {
namespace {

constexpr int kHalvings = 6;

// Of [low, high] that by which the replay, which takes the longer the larger it is, takes as long as the job did;
// `with` makes what is replayed.
template <typename With>
double fitted(double low, double high, double step, With&& with) {
  for (int i = 0; i < kHalvings; ++i) {
    const auto middle = std::sqrt(low * high);
    const auto took = replay(with(middle));
    (!took || *took > step ? high : low) = middle;
  }
  return low;
}

// The servers' links as so much slower than they seemed.
JobTimes with_slower_servers(JobTimes times, double slower) {
  times.servers.in /= slower;
  times.servers.out /= slower;
  return times;
}

// The links of workers that lose what they carry as so much slower: they stand still at times, which is worse than what
// they carry in the mean.
JobTimes with_slower_lossy(JobTimes times, double slower) {
  for (auto& worker : times.workers) {
    worker.up /= worker.is_lossy() ? slower : 1;
    worker.down /= worker.is_lossy() ? slower : 1;
  }
  return times;
}

// Messages of lanes that have no processor when they want one as so much slower.
JobTimes with_lanes_behind(JobTimes times, double behind) {
  for (auto& lane : times.lanes) {
    lane.behind = lane.is_starved() ? behind : 1;
    lane.message *= lane.behind;
  }
  return times;
}

// Without the links of shards that are not slow beside the others.
JobTimes without_usual_shards(JobTimes times) {
  constexpr double kSlow = 0.7;
  const auto drop = [&](double ServerLink::*rate) {
    std::vector<double> all;
    for (const auto& shard : times.shards) {
      all.push_back(shard.*rate);
    }
    const auto usual = median(std::move(all));
    for (auto& shard : times.shards) {
      shard.*rate = shard.*rate >= kSlow * usual ? 0 : shard.*rate;
    }
  };
  drop(&ServerLink::in);
  drop(&ServerLink::out);
  return times;
}

// The links of workers that are not slow beside the others, so many times as fast as they seemed; where it is known how
// fast one is, no faster than that.
JobTimes with_faster_workers(JobTimes times, double faster) {
  constexpr double kSlow = 0.7;
  const auto raise = [&](double WorkerTimes::*rate) {
    std::vector<double> all;
    for (const auto& worker : times.workers) {
      all.push_back(worker.*rate);
    }
    const auto usual = median(std::move(all));
    for (auto& worker : times.workers) {
      const auto most = times.line > 0 ? std::max(times.line, worker.*rate) : faster * worker.*rate;
      worker.*rate = worker.*rate >= kSlow * usual ? std::min(faster * worker.*rate, most) : worker.*rate;
    }
  };
  raise(&WorkerTimes::up);
  raise(&WorkerTimes::down);
  return times;
}

}  // namespace

JobTimes calibrated(JobTimes times) {
  constexpr double kSlower = 1.25;
  constexpr double kFaster = 2;
  auto as_seen = replay(times);
  if (as_seen && *as_seen > times.step) {
    times = without_usual_shards(std::move(times));
    as_seen = replay(times);
  }
  const bool has_servers = times.servers.in > 0 || times.servers.out > 0;
  const bool is_starved = std::ranges::any_of(times.lanes, [](const auto& lane) { return lane.is_starved(); });
  if (as_seen && *as_seen < times.step && is_starved) {
    constexpr double kBehind = 100;
    return with_lanes_behind(
        times, fitted(1, kBehind, times.step, [&](double behind) { return with_lanes_behind(times, behind); }));
  }
  const bool is_lossy = std::ranges::any_of(times.workers, [](const auto& worker) { return worker.is_lossy(); });
  if (as_seen && *as_seen < times.step && is_lossy) {
    constexpr double kStalls = 4;
    return with_slower_lossy(
        times, fitted(1, kStalls, times.step, [&](double slower) { return with_slower_lossy(times, slower); }));
  }
  if (as_seen && *as_seen < times.step && has_servers) {
    return with_slower_servers(
        times, fitted(1, kSlower, times.step, [&](double slower) { return with_slower_servers(times, slower); }));
  }
  if (as_seen && *as_seen > times.step) {
    const auto slower =
        fitted(1, kFaster, times.step, [&](double part) { return with_faster_workers(times, kFaster / part); });
    return with_faster_workers(times, kFaster / slower);
  }
  return times;
}

}  // namespace ballast::insight
