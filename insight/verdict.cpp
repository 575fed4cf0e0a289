#include "insight/verdict.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "insight/medians.h"
#include "insight/mending.h"
#include "insight/replay.h"
#include "insight/suspects.h"

namespace ballast::insight {
namespace {

constexpr double kBarrierCosts = 1.05;  // what slots scatter by as a rule costs half of that

std::string name_of(const JobTimes& times, const Suspect& one) {
  switch (one.cause) {
    case Cause::processor:
      return times.lanes[one.place].name;
    case Cause::server_link:
      return one.place == times.shards.size() ? "servers" : "shard " + std::to_string(one.place);
    case Cause::storage:
      return "shard " + std::to_string(one.place);
    case Cause::barrier:
      return "all workers";
    case Cause::lead:
      return "lead";
    case Cause::compute:
    case Cause::passing:
    case Cause::data:
    case Cause::worker_link:
      break;
  }
  const auto workers = times.workers.size();
  return one.place < workers ? times.workers[one.place].name : "shard " + std::to_string(one.place - workers);
}

// Loss makes a link slow, and so does delay: a connection carries no more than is under way at a time.
LinkTrouble trouble_of(const JobTimes& times, std::size_t place) {
  return loses_most(times, place) ? LinkTrouble::loss : is_far(times, place) ? LinkTrouble::delay : LinkTrouble::rate;
}

// How many times as long; no less than 1.
double ratio(double longer, double shorter) { return longer > 0 && shorter > 0 ? std::max(1.0, longer / shorter) : 1; }

std::vector<Suspect> without(const std::vector<Suspect>& all, const Suspect& one) {
  std::vector<Suspect> others;
  std::ranges::copy_if(all, std::back_inserter(others), [&](const Suspect& each) { return !(each == one); });
  return others;
}

// How many times as long as its slots are in the mean the longest one of a step is, in the mean.
double scatter(const JobTimes& times) {
  std::vector<double> all;
  for (std::size_t step = 0; step < times.steps; ++step) {
    std::vector<double> slots;
    for (const auto& worker : times.workers) {
      if (step < worker.slots.size()) {
        slots.insert(slots.end(), worker.slots[step].begin(), worker.slots[step].end());
      }
    }
    const auto usual = mean(slots);
    all.push_back(usual > 0 ? *std::ranges::max_element(slots) / usual : 1);
  }
  return mean(all);
}

std::vector<Suspect> with_barrier(const JobTimes& times, std::vector<Suspect> all) {
  all.push_back({Cause::barrier, 0, scatter(times)});
  return all;
}

// How long a step takes with one of all suspects mended, and with all but it.
struct Replayed {
  double alone = 0;
  double with_it = 0;
};

std::optional<std::vector<Replayed>> one_by_one(const Mending& mending, const std::vector<Suspect>& all, double as_is,
                                                double ideal) {
  if (all.size() == 1) {
    return std::vector<Replayed>{{ideal, as_is}};
  }
  std::vector<Replayed> each;
  for (const auto& one : all) {
    const auto alone = replay(mending.mended({one}));
    const auto with_it = replay(mending.mended(without(all, one)));
    if (!alone || !with_it) {
      return std::nullopt;
    }
    each.push_back({*alone, *with_it});
  }
  return each;
}

// All mended takes no longer than one of them: where a replay says otherwise, the lead divides worse for a while among
// workers that are nearly as fast.
double least(double ideal, const std::vector<Replayed>& each) {
  return each.empty() ? ideal : std::min(ideal, std::ranges::min(each, {}, &Replayed::alone).alone);
}

}  // namespace

std::optional<Verdict> verdict(const JobTimes& times, const std::vector<Severity>& severities) {
  auto all = suspects(times, severities);
  const Mending mending(times, all);
  const auto as_is = replay(times);
  auto ideal = all.empty() ? as_is : replay(mending.mended(all));
  if (!as_is || !ideal) {
    return std::nullopt;
  }
  if (const auto evened = times.items ? std::nullopt : replay(mending.mended(with_barrier(times, all)));
      evened && *ideal > kBarrierCosts * *evened) {
    all = with_barrier(times, all);
    ideal = evened;
  }
  const auto each = one_by_one(mending, all, *as_is, *ideal);
  if (!each) {
    return std::nullopt;
  }
  Verdict verdict{times.steps,
                  times.step / 1'000,
                  *as_is / 1'000,
                  ratio(*as_is, least(*ideal, *each)),
                  {},
                  times.items ? times.rules.slots : 0};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& one = all[i];
    Finding found{one.cause,
                  name_of(times, one),
                  one.severity,
                  ratio(*as_is, (*each)[i].alone),
                  ratio((*each)[i].with_it, *ideal),
                  0,
                  {},
                  one.place};
    if (one.cause == Cause::worker_link) {
      found.trouble = trouble_of(times, one.place);
    }
    if (one.cause == Cause::passing) {
      found.lost = (found.cost - 1) * *ideal * static_cast<double>(times.steps) / 1e6;
    }
    verdict.found.push_back(found);
  }
  std::ranges::stable_sort(verdict.found, std::greater(),
                           [](const Finding& found) { return std::max(found.gain, found.cost); });
  return verdict;
}

}  // namespace ballast::insight
