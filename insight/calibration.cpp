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

constexpr double kSlow = 0.7;  // of what is usual: a link that carries less is slow beside the others

// Calls `change` with that rate of each shard, and what is usual of them.
template <typename Change>
void each_shard(JobTimes& times, double ServerLink::*rate, Change&& change) {
  std::vector<double> all;
  for (const auto& shard : times.shards) {
    all.push_back(shard.*rate);
  }
  const auto usual = median(std::move(all));
  for (auto& shard : times.shards) {
    change(shard.*rate, usual);
  }
}

bool has_slow_shard(JobTimes times) {
  bool has = false;
  const auto look = [&](double rate, double usual) { has = has || (rate > 0 && rate < kSlow * usual); };
  each_shard(times, &ServerLink::in, look);
  each_shard(times, &ServerLink::out, look);
  return has;
}

// The links of shards that are slow as so much slower.
JobTimes with_slower_shards(JobTimes times, double slower) {
  const auto slow = [&](double& rate, double usual) { rate /= rate < kSlow * usual ? slower : 1; };
  each_shard(times, &ServerLink::in, slow);
  each_shard(times, &ServerLink::out, slow);
  return times;
}

// Without the links of shards that are not slow beside the others.
JobTimes without_usual_shards(JobTimes times) {
  const auto drop = [](double& rate, double usual) { rate = rate >= kSlow * usual ? 0 : rate; };
  each_shard(times, &ServerLink::in, drop);
  each_shard(times, &ServerLink::out, drop);
  return times;
}

// The links of workers that are not slow beside the others, so many times as fast as they seemed; where it is known how
// fast one is, no faster than that.
JobTimes with_faster_workers(JobTimes times, double faster) {
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

// What may have taken longer than it seemed, where there is such a thing, and how many times as long at most.
struct Doubt {
  bool is_there = false;
  double most = 1;
  JobTimes (*slower)(JobTimes times, double by) = nullptr;
};

// The least certain first.
std::vector<Doubt> doubts_of(const JobTimes& times) {
  const bool is_starved = std::ranges::any_of(times.lanes, [](const auto& lane) { return lane.is_starved(); });
  const bool is_lossy = std::ranges::any_of(times.workers, [](const auto& worker) { return worker.is_lossy(); });
  const bool has_servers = times.servers.in > 0 || times.servers.out > 0;
  return {{is_starved, 100, with_lanes_behind},
          {has_slow_shard(times), 1.5, with_slower_shards},
          {is_lossy, 4, with_slower_lossy},
          {has_servers, 1.25, with_slower_servers}};
}

}  // namespace

JobTimes calibrated(JobTimes times) {
  constexpr double kFaster = 2;
  auto as_seen = replay(times);
  if (as_seen && *as_seen > times.step) {
    times = without_usual_shards(std::move(times));
    as_seen = replay(times);
  }
  if (!as_seen || *as_seen == times.step) {
    return times;
  }
  if (*as_seen > times.step) {
    const auto slower =
        fitted(1, kFaster, times.step, [&](double part) { return with_faster_workers(times, kFaster / part); });
    return with_faster_workers(std::move(times), kFaster / slower);
  }
  const auto doubts = doubts_of(times);
  const auto first = std::ranges::find(doubts, true, &Doubt::is_there);
  return first == doubts.end() ? times : first->slower(times, fitted(1, first->most, times.step, [&](double by) {
                                                         return first->slower(times, by);
                                                       }));
}

}  // namespace ballast::insight
