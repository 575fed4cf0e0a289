#include "cli/advising/foretelling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "cli/advising/item_bound.h"
#include "insight/replay.h"

namespace ballast {
namespace {

constexpr std::uint32_t kMostLanes = 16;  // of a shard
constexpr double kAsGood = 1.05;          // of the shortest step
constexpr double kMatters = 1.03;         // what gains less does not limit

// 1, 2, 4, ... up to `most`, and that itself.
std::set<std::uint32_t> counts(std::size_t most) {
  std::set<std::uint32_t> found;
  for (std::size_t count = 1; count <= most; count *= 2) {
    found.insert(static_cast<std::uint32_t>(count));
  }
  found.insert(static_cast<std::uint32_t>(most));
  return found;
}

double processors_of_servers(const Fleet& fleet) {
  double most = 1;
  for (const auto& server : fleet.servers) {
    most = std::max(most, server.processors);
  }
  return most;
}

std::size_t machines(const Candidate& candidate, const Fleet& fleet) {
  const std::size_t shards = candidate.shards;
  return candidate.workers + (fleet.is_one_machine ? shards : std::min(shards, fleet.server_machines));
}

void halve(std::vector<double>& spans) {
  for (auto& span : spans) {
    span /= 2;
  }
}

ForetoldJob half_of(ForetoldJob job, Bound what) {
  auto& times = job.times;
  switch (what) {
    case Bound::compute:
      for (auto& worker : times.workers) {
        worker.slot /= 2;
        std::ranges::for_each(worker.slots, halve);
      }
      break;
    case Bound::data:
      for (auto& worker : times.workers) {
        worker.fetch /= 2;
      }
      break;
    case Bound::worker_links:
      for (auto& worker : times.workers) {
        worker.up *= 2;
        worker.down *= 2;
      }
      break;
    case Bound::server_links:
      times.servers.in *= 2;
      times.servers.out *= 2;
      for (auto& shard : times.shards) {
        shard.in *= 2;
        shard.out *= 2;
      }
      break;
    case Bound::lanes:
      for (auto& lane : times.lanes) {
        lane.message /= 2;
      }
      halve(times.sum);
      halve(times.apply);
      break;
    case Bound::lead:
      halve(times.decisions);
      break;
    case Bound::processors:
      job.processing /= 2;
      break;
  }
  return job;
}

bool has(const insight::ServerLink& link) { return link.in > 0 || link.out > 0; }

// Whether a replay has it at all.
bool applies(const ForetoldJob& job, const Fleet& fleet, Bound what) {
  const auto& times = job.times;
  switch (what) {
    case Bound::data:
      return std::ranges::any_of(times.workers, [](const auto& worker) { return worker.fetch > 0; });
    case Bound::worker_links:
      return std::ranges::any_of(times.workers, [](const auto& worker) { return worker.up > 0 || worker.down > 0; });
    case Bound::server_links:
      return has(times.servers) || std::ranges::any_of(times.shards, has);
    case Bound::lead:
      return !times.decisions.empty();
    case Bound::processors:
      return fleet.is_one_machine;
    case Bound::compute:
    case Bound::lanes:
      break;
  }
  return true;
}

// What would be left of `as_is` microseconds that a step takes.
Limiting limit_of(const ForetoldJob& job, const Fleet& fleet, double as_is, const SearchLimits& limits,
                  std::optional<Bound> but = {}) {
  constexpr std::array kAll = {Bound::compute, Bound::data, Bound::worker_links, Bound::server_links,
                               Bound::lanes,   Bound::lead, Bound::processors};
  Limiting found;
  for (const auto what : kAll) {
    if (what == but || !applies(job, fleet, what)) {
      continue;
    }
    const auto takes = limits.explains() ? foretold_step(half_of(job, what), fleet) : std::nullopt;
    if (!takes) {
      return {};  // which might have been it
    }
    if (*takes * kMatters < as_is && (!found.limit || *takes < found.limit->takes)) {
      found.limit = Limit{what, *takes};
    }
  }
  found.is_known = true;
  return found;
}

// Of those nearly as good as the best: machines, then threads, then time.
std::size_t least_of(const std::vector<Foretold>& tried, double shortest, const Fleet& fleet) {
  std::size_t least = tried.size();
  const auto rank = [&](const Foretold& one) {
    return std::tuple(machines(one.candidate, fleet), one.candidate.shards * one.candidate.lanes, one.step);
  };
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].step <= shortest * kAsGood && (least == tried.size() || rank(tried[i]) < rank(tried[least]))) {
      least = i;
    }
  }
  return least;
}

void judge(const Job& job, const Fleet& fleet, Foretelling& found) {
  std::ranges::sort(found.tried, {}, [](const Foretold& one) {
    return std::tuple(one.candidate.shards, one.candidate.lanes, one.candidate.workers);
  });
  const auto shortest = std::ranges::min_element(found.tried, {}, &Foretold::step);
  found.best = static_cast<std::size_t>(shortest - found.tried.begin());
  found.least = least_of(found.tried, shortest->step, fleet);
  const auto& cluster = job.spec.cluster;
  const Candidate own{cluster.shards, cluster.lanes, cluster.workers};
  if (const auto at = std::ranges::find(found.tried, own, &Foretold::candidate); at != found.tried.end()) {
    found.own = static_cast<std::size_t>(at - found.tried.begin());
  }
}

void explain(const ForetoldJob& chosen, const Fleet& fleet, const SearchLimits& limits, Foretelling& found) {
  found.limiting = limit_of(chosen, fleet, found.tried[found.least].step, limits);
  if (const auto& limit = found.limiting.limit) {
    found.next = limit_of(half_of(chosen, limit->what), fleet, limit->takes, limits, limit->what);
  }
}

}  // namespace

std::vector<Candidate> candidates(const Job& job, const Fleet& fleet) {
  const auto& cluster = job.spec.cluster;
  const auto chunks = job.arena.chunks.size();
  auto shards = counts(fleet.is_one_machine ? 1 : std::min(std::max<std::size_t>(fleet.server_machines, 1), chunks));
  shards.insert(cluster.shards);  // which may share machines
  // A lane more than there are processors gains nothing.
  const auto processors = static_cast<std::size_t>(std::ceil(processors_of_servers(fleet)));
  auto lanes = counts(std::clamp<std::size_t>(processors, 1, kMostLanes));
  lanes.insert(cluster.lanes);
  const auto most = std::min<std::size_t>(std::max<std::size_t>(fleet.worker_machines, 1), job.spec.training.slots);
  auto workers = counts(most);
  if (cluster.workers <= most) {
    workers.insert(cluster.workers);
  }
  std::vector<Candidate> all;
  for (const auto shard : shards) {
    for (const auto lane : lanes) {
      for (const auto worker : workers) {
        all.push_back({shard, lane, worker});
      }
    }
  }
  const Candidate own{cluster.shards, cluster.lanes, cluster.workers};
  std::ranges::stable_sort(all, {}, [&](const Candidate& one) {
    return std::tuple(one != own, std::uint64_t{one.workers} * std::max<std::size_t>(chunks, one.shards * one.lanes));
  });
  return all;
}

// All processes of one machine share its processors: no step is shorter than what they have to do.
std::optional<double> foretold_step(const ForetoldJob& job, const Fleet& fleet) {
  const auto takes =
      job.is_in_items ? std::optional(item_bound(job.times)) : insight::replay(job.times, job.times.steps);
  return takes && fleet.is_one_machine ? std::max(*takes, job.processing / fleet.servers[0].processors) : takes;
}

Foretelling foretell(const Job& job, const Fleet& fleet, bool waits, const SearchLimits& limits) {
  Foretelling found;
  for (const auto& candidate : candidates(job, fleet)) {
    if (!limits.goes_on()) {
      ++found.untried;
    } else if (limits.fits(candidate)) {
      if (const auto step = foretold_step(foretold_job(job, fleet, candidate, waits), fleet)) {
        found.tried.push_back({candidate, *step});
      } else {
        ++found.too_large;
      }
    }
  }
  if (found.tried.empty()) {
    return found;
  }
  judge(job, fleet, found);
  explain(foretold_job(job, fleet, found.tried[found.least].candidate, waits), fleet, limits, found);
  return found;
}

}  // namespace ballast
