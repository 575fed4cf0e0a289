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

bool has_lossy(const JobTimes& times) {
  return std::ranges::any_of(times.workers, [](const auto& worker) { return worker.is_lossy(); });
}

// The links of workers that lose what they carry as so much slower, or faster: they stand still at times, which may be
// worse than what they carry in the mean, or in nobody's way.
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

constexpr double kSlowBeside = 0.7;  // of what is usual: a link that carries less is slow beside the others

// Calls `change` with that rate of each shard, what was seen of it, and what is usual of them all.
template <typename Change>
void each_shard(JobTimes& times, double ServerLink::*rate, double ServerLink::*seen, Change&& change) {
  std::vector<double> all;
  for (const auto& shard : times.shards) {
    all.push_back(shard.*seen);
  }
  const auto usual = median(std::move(all));
  for (auto& shard : times.shards) {
    change(shard.*rate, shard.*seen < kSlowBeside * usual);
  }
}

bool has_slow_shard(JobTimes times) {
  bool has = false;
  const auto look = [&](double rate, bool is_slow) { has = has || (rate > 0 && is_slow); };
  each_shard(times, &ServerLink::in, &ServerLink::seen_in, look);
  each_shard(times, &ServerLink::out, &ServerLink::seen_out, look);
  return has;
}

// The links of shards that are slow as so much slower.
JobTimes with_slower_shards(JobTimes times, double slower) {
  const auto slow = [&](double& rate, bool is_slow) { rate /= is_slow ? slower : 1; };
  each_shard(times, &ServerLink::in, &ServerLink::seen_in, slow);
  each_shard(times, &ServerLink::out, &ServerLink::seen_out, slow);
  return times;
}

// Without the links of shards that are not slow beside the others.
JobTimes without_usual_shards(JobTimes times) {
  const auto drop = [](double& rate, bool is_slow) { rate = is_slow ? rate : 0; };
  each_shard(times, &ServerLink::in, &ServerLink::seen_in, drop);
  each_shard(times, &ServerLink::out, &ServerLink::seen_out, drop);
  return times;
}

// Without what was not seen, but taken to be as the other way.
JobTimes without_borrowed(JobTimes times) {
  times.servers.in = times.is_borrowed.in ? 0 : times.servers.in;
  times.servers.out = times.is_borrowed.out ? 0 : times.servers.out;
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
      worker.*rate = worker.*rate >= kSlowBeside * usual ? std::min(faster * worker.*rate, most) : worker.*rate;
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
  const bool has_servers = times.servers.in > 0 || times.servers.out > 0;
  return {{is_starved, 100, with_lanes_behind},
          {has_slow_shard(times), 1.5, with_slower_shards},
          {has_lossy(times), 4, with_slower_lossy},
          {has_servers, 1.25, with_slower_servers}};
}

constexpr double kAsLong = 0.005;  // of a step: a replay that is so near is as long as the job

// A replay, and the times that it was made of.
struct Tried {
  JobTimes times;
  double takes = 0;

  [[nodiscard]] double off() const { return std::abs(takes - times.step); }
  [[nodiscard]] bool is_longer() const { return takes > (1 + kAsLong) * times.step; }
  [[nodiscard]] bool is_shorter() const { return takes < (1 - kAsLong) * times.step; }
};

// Without what is least certain to be in the way, if that brings the replay nearer to the job.
void shorten(Tried& tried, JobTimes (*without)(JobTimes times)) {
  if (!tried.is_longer()) {
    return;
  }
  Tried other{without(tried.times), 0};
  other.takes = replay(other.times).value_or(0);
  if (other.takes > 0 && other.off() < tried.off()) {
    tried = std::move(other);
  }
}

// The first that there is, as far as it goes; the next one where that leaves much.
JobTimes lengthened(Tried tried) {
  constexpr double kMuch = 0.05;
  const auto doubts = doubts_of(tried.times);
  for (const auto& doubt : doubts) {
    if (!doubt.is_there) {
      continue;
    }
    const auto by =
        fitted(1, doubt.most, tried.times.step, [&](double part) { return doubt.slower(tried.times, part); });
    tried.times = doubt.slower(std::move(tried.times), by);
    tried.takes = replay(tried.times).value_or(tried.times.step);
    if (tried.takes > (1 - kMuch) * tried.times.step) {
      break;
    }
  }
  return std::move(tried.times);
}

}  // namespace

JobTimes calibrated(JobTimes times) {
  const auto as_seen = replay(times);
  if (!as_seen) {
    return times;
  }
  Tried tried{std::move(times), *as_seen};
  if (tried.is_shorter()) {
    return lengthened(std::move(tried));
  }
  if (has_lossy(tried.times)) {
    constexpr double kMuchFaster = 4;
    const auto slower = fitted(1, kMuchFaster, tried.times.step,
                               [&](double part) { return with_slower_lossy(tried.times, part / kMuchFaster); });
    tried.times = with_slower_lossy(std::move(tried.times), slower / kMuchFaster);
    tried.takes = replay(tried.times).value_or(tried.takes);
  }
  shorten(tried, without_usual_shards);
  shorten(tried, without_borrowed);
  if (!tried.is_longer()) {
    return std::move(tried.times);
  }
  constexpr double kFaster = 2;
  const auto slower = fitted(1, kFaster, tried.times.step,
                             [&](double part) { return with_faster_workers(tried.times, kFaster / part); });
  return with_faster_workers(std::move(tried.times), kFaster / slower);
}

}  // namespace ballast::insight
