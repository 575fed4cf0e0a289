#include "insight/calibration.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "insight/medians.h"
#include "insight/replay.h"

namespace ballast::insight {
namespace {

// Of [low, high] that by which the replay, which takes the longer the larger it is, takes as long as the job did;
// `with` makes what is replayed.
template <typename With>
double fitted(double low, double high, double step, With&& with) {
  constexpr double kNear = 1.01;
  while (high > kNear * low) {
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

constexpr double kSlowBeside = 0.7;  // of what is usual: a link that carries less is slow beside the others

// Calls `change` with the rate of each worker's link, one way and the other, the worker, and whether it is slow beside
// the others'.
template <typename Change>
void each_link(JobTimes& times, Change&& change) {
  for (const auto rate : {&WorkerTimes::up, &WorkerTimes::down}) {
    std::vector<double> all;
    for (const auto& worker : times.workers) {
      all.push_back(worker.*rate);
    }
    const auto usual = median(std::move(all));
    for (auto& worker : times.workers) {
      change(worker.*rate, worker, worker.*rate < kSlowBeside * usual);
    }
  }
}

bool has_slow_link(JobTimes times) {
  bool has = false;
  each_link(times, [&](double rate, const WorkerTimes&, bool is_slow) { has = has || (rate > 0 && is_slow); });
  return has;
}

// The links of workers that are slow beside the others' as so much slower, or faster.
JobTimes with_slower_links(JobTimes times, double slower) {
  each_link(times, [&](double& rate, const WorkerTimes&, bool is_slow) { rate /= is_slow ? slower : 1; });
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

bool has_journal(const JobTimes& times) {
  return std::ranges::any_of(times.lanes, [](const auto& lane) { return lane.journal > 0; });
}

// Journals as so much slower: records come in bursts, and then wait for each other.
JobTimes with_slower_journals(JobTimes times, double slower) {
  for (auto& lane : times.lanes) {
    lane.journal *= slower;
    lane.beside_disk *= slower;
  }
  return times;
}

// Calls `change` with that rate of each shard of which something was seen, the shard, and whether that is slow beside
// the others.
template <typename Change>
void each_shard(JobTimes& times, double ServerLink::*rate, double ServerLink::*seen, Change&& change) {
  std::vector<double> all;
  for (const auto& shard : times.shards) {
    all.push_back(shard.*seen);
  }
  const auto usual = median(std::move(all));
  for (auto& shard : times.shards) {
    if (shard.*seen > 0) {  // else it is what was declared, or seen at another time
      change(shard.*rate, shard, shard.*seen < kSlowBeside * usual);
    }
  }
}

// Of shards that are slow beside the others, or beside what was declared.
template <typename Change>
void each_slow_shard(JobTimes& times, Change&& change) {
  const auto of_seen = [&](double ServerLink::*seen) {
    return [&change, seen](double& rate, const ServerLink& shard, bool is_slow) {
      if (rate > 0 && (is_slow || shard.*seen < kSlowBeside * shard.line)) {
        change(rate);
      }
    };
  };
  each_shard(times, &ServerLink::in, &ServerLink::seen_in, of_seen(&ServerLink::seen_in));
  each_shard(times, &ServerLink::out, &ServerLink::seen_out, of_seen(&ServerLink::seen_out));
}

bool has_slow_shard(JobTimes times) {
  bool has = false;
  each_slow_shard(times, [&](double) { has = true; });
  return has;
}

// The links of shards that are slow as so much slower.
JobTimes with_slower_shards(JobTimes times, double slower) {
  each_slow_shard(times, [&](double& rate) { rate /= slower; });
  return times;
}

// The links of shards that are not slow beside the others as they were declared, or none.
JobTimes without_usual_shards(JobTimes times) {
  const auto drop = [](double& rate, const ServerLink& shard, bool is_slow) { rate = is_slow ? rate : shard.line; };
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
  each_link(times, [&](double& rate, const WorkerTimes& worker, bool is_slow) {
    const auto line = worker.line > 0 ? worker.line : times.line;
    const auto most = line > 0 ? std::max(line, rate) : faster * rate;
    rate = is_slow ? rate : std::min(faster * rate, most);
  });
  return times;
}

// What may have taken longer than it seemed, where there is such a thing, and how many times as long at most; of some
// it may have been as much shorter.
struct Doubt {
  bool is_there = false;
  double most = 1;
  JobTimes (*slower)(JobTimes times, double by) = nullptr;
  bool both_ways = false;
};

// The least certain first.
std::vector<Doubt> doubts_of(const JobTimes& times) {
  const bool is_starved = std::ranges::any_of(times.lanes, [](const auto& lane) { return lane.is_starved(); });
  const bool has_servers = times.servers.in > 0 || times.servers.out > 0;
  return {{is_starved, 100, with_lanes_behind},
          {has_slow_shard(times), 1.5, with_slower_shards},
          {has_journal(times), 1.25, with_slower_journals},
          {has_lossy(times), 4, with_slower_lossy, true},
          {has_slow_link(times), 1.25, with_slower_links, true},
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

// As far as it goes; not at all where it hardly brings the replay nearer to the job.
void fit(Tried& tried, const Doubt& doubt, double least, double most) {
  constexpr double kNearer = 2.0 / 3;
  const auto by = least * fitted(1, most / least, tried.times.step,
                                 [&](double part) { return doubt.slower(tried.times, least * part); });
  Tried other{doubt.slower(tried.times, by), 0};
  other.takes = replay(other.times).value_or(0);
  if (other.takes > 0 && other.off() < kNearer * tried.off()) {
    tried = std::move(other);
  }
}

// The first that there is; the next one where that leaves much.
JobTimes lengthened(Tried tried) {
  constexpr double kMuch = 0.05;
  for (const auto& doubt : doubts_of(tried.times)) {
    if (!doubt.is_there) {
      continue;
    }
    fit(tried, doubt, 1, doubt.most);
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
  for (const auto& doubt : doubts_of(tried.times)) {
    if (doubt.is_there && doubt.both_ways && tried.is_longer()) {
      fit(tried, doubt, 1 / doubt.most, 1);
    }
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
