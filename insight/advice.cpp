#include "insight/advice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "insight/medians.h"
#include "insight/mending.h"
#include "insight/replay.h"
#include "insight/suspects.h"

namespace ballast::insight {
namespace {

constexpr double kWorthIt = 1.03;
constexpr double kAsWell = 0.98;
// Worth more than a machine that is not needed, or than to look after one thing alone.
constexpr double kMuchMore = 1.1;
constexpr double kFarMore = 4;       // times as much is saved by what can't be told to a job as by what can
constexpr double kPreferred = 0.02;  // of the gain: a change that is easier to try is taken up to here
constexpr std::size_t kMostLeftOut = 8;
constexpr std::size_t kMostLanesOfAShard = 16;
constexpr double kHasProcessor = 1.1;  // a lane's thread that waits no longer than that for one

class Candidates {
 public:
  explicit Candidates(double as_is) : as_is_(as_is) {}

  // In the order in which they are preferred.
  void try_out(Advice advice, const JobTimes& changed) {
    const auto takes = replay(changed);
    if (!takes || *takes <= 0) {
      return;
    }
    advice.gain = as_is_ / *takes;
    if (!best_ || advice.gain > best_->gain + kPreferred) {
      best_ = std::move(advice);
    }
  }
  [[nodiscard]] const std::optional<Advice>& best() const { return best_; }

 private:
  double as_is_;
  std::optional<Advice> best_;
};

bool stays_with_a_worker(Cause cause) {
  switch (cause) {
    case Cause::compute:
    case Cause::data:
    case Cause::worker_link:
      return true;
    case Cause::passing:  // a stop that is over says nothing of the next one
    case Cause::server_link:
    case Cause::processor:
    case Cause::storage:
    case Cause::barrier:
    case Cause::lead:
      break;
  }
  return false;
}

bool matters(const Finding& found) { return std::max(found.gain, found.cost) > kWorthIt; }

Suspect suspect_of(const Finding& found) { return {found.cause, found.place, found.severity}; }

// Those that are found to hold the job up, the first one first.
std::vector<std::size_t> slow_workers(const JobTimes& times, const Verdict& verdict) {
  std::vector<std::size_t> places;
  for (const auto& found : verdict.found) {
    const auto worker = std::ranges::find(times.workers, found.who, &WorkerTimes::name);
    const auto place = static_cast<std::size_t>(worker - times.workers.begin());
    if (matters(found) && stays_with_a_worker(found.cause) && worker != times.workers.end() &&
        std::ranges::find(places, place) == places.end() && places.size() < kMostLeftOut) {
      places.push_back(place);
    }
  }
  return places;
}

// Each of them alone, and the first two, three, ...
void leave_out(const JobTimes& times, const std::vector<std::size_t>& slow, Candidates& candidates) {
  const auto try_without = [&](const std::vector<std::size_t>& places) {
    if (places.size() < times.workers.size()) {
      Advice advice{Change::leave_out, {}, times.workers.size() - places.size()};
      for (const auto place : places) {
        advice.who.push_back(times.workers[place].name);
      }
      candidates.try_out(std::move(advice), without_workers(times, places));
    }
  };
  std::vector<std::size_t> several;
  for (const auto place : slow) {
    try_without({place});
    several.push_back(place);
    if (several.size() > 1) {
      try_without(several);
    }
  }
}

std::size_t lanes_of_a_shard(const JobTimes& times) {
  return times.lanes.size() / std::max<std::size_t>(times.shards.size(), 1);
}

void add_lanes(const JobTimes& times, Candidates& candidates) {
  const auto lanes = 2 * lanes_of_a_shard(times);
  const bool have_processors =
      std::ranges::all_of(times.lanes, [](const LaneTimes& lane) { return lane.starved < kHasProcessor; });
  if (lanes <= kMostLanesOfAShard && 2 * times.lanes.size() <= times.bytes.size() && have_processors) {
    candidates.try_out({Change::more_lanes, {}, lanes}, with_twice_the_lanes(times));
  }
}

// Twice as many, and as many as can be shared out evenly.
void change_slots(const JobTimes& times, Candidates& candidates) {
  const auto now = times.rules.slots;
  const auto workers = static_cast<Slot>(times.workers.size());
  const auto even = (now + workers - 1) / workers * workers;
  const auto try_out = [&](Slot slots) {
    if (slots != now && slots <= kMaxSlots) {
      candidates.try_out({Change::slots, {}, slots}, with_slots(times, slots));
    }
  };
  try_out(even);
  if (2 * now != even) {
    try_out(2 * now);
  }
}

bool mostly_syncs(const JobTimes& times, std::size_t shard) {
  return std::ranges::all_of(times.lanes, [&](const LaneTimes& lane) { return lane.shard != shard || lane.syncs; });
}

// Of shards whose journals keep items waiting for long.
void speed_up_disks(const JobTimes& times, const Verdict& verdict, Candidates& candidates) {
  Advice advice{Change::faster_disk, {}, 0};
  advice.is_of_syncs = true;
  std::vector<Suspect> disks;
  std::vector<Suspect> all;  // that matter to what links carry without them
  for (const auto& found : verdict.found) {
    const auto suspect = suspect_of(found);
    if (found.cause == Cause::storage && matters(found)) {
      advice.who.push_back(found.who);
      advice.is_of_syncs = advice.is_of_syncs && mostly_syncs(times, suspect.place);
      disks.push_back(suspect);
    } else if (found.cause == Cause::worker_link) {
      all.push_back(suspect);
    }
  }
  all.insert(all.end(), disks.begin(), disks.end());
  if (!disks.empty()) {
    candidates.try_out(std::move(advice), Mending(times, all).mended(disks));
  }
}

void widen_bound(const JobTimes& times, Candidates& candidates) {
  if (times.items->bound > 0) {
    auto changed = times;
    changed.items->bound *= 2;
    candidates.try_out({Change::wider_bound, {}, 2}, changed);
  }
}

// Half of them, the fastest; else all but the slowest.
std::optional<Advice> fewer(const JobTimes& times, double as_is) {
  std::vector<std::size_t> places(times.workers.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, std::greater(), [&](std::size_t place) { return times.workers[place].slot; });
  for (const auto out : std::set<std::size_t, std::greater<>>{places.size() / 2, 1}) {
    if (out == 0 || out >= places.size()) {
      continue;
    }
    const auto takes =
        replay(without_workers(times, {places.begin(), places.begin() + static_cast<std::ptrdiff_t>(out)}));
    if (takes && *takes > 0 && as_is / *takes >= kAsWell) {
      return Advice{Change::fewer_workers, {}, places.size() - out, as_is / *takes};
    }
  }
  return std::nullopt;
}

// Worth another model only where it gains far more than what leaves the model as it is.
std::optional<Advice> as_ssp(const JobTimes& times, double as_is, double otherwise) {
  constexpr double kWorthOtherBits = 1.1;
  if (!times.is_sync || !times.decisions.empty() || times.workers.size() < 2) {
    return std::nullopt;
  }
  const auto changed = with_items(times);
  const auto takes = replay(changed);
  if (!takes || *takes <= 0 || as_is / *takes <= kWorthOtherBits * otherwise) {
    return std::nullopt;
  }
  return Advice{Change::ssp, {}, changed.items->bound, as_is / *takes};
}

// The first of what is found, or all that matters, where that gains far more. Slots that scatter are nobody's fault.
Advice mend(const JobTimes& times, const Verdict& verdict) {
  Advice first{Change::mend, {}, 0, 1};
  Advice all{Change::mend, {}, 0, 1};
  std::vector<Suspect> suspects;
  std::vector<Suspect> listed;
  for (const auto& found : verdict.found) {
    if (found.cause == Cause::barrier) {
      continue;
    }
    suspects.push_back(suspect_of(found));
    if (!matters(found)) {
      continue;
    }
    if (listed.empty()) {
      first.gain = found.gain;
      first.who = {found.who};
      first.causes = {found.cause};
    }
    listed.push_back(suspects.back());
    if (std::ranges::find(all.who, found.who) == all.who.end()) {
      all.who.push_back(found.who);
      all.causes.push_back(found.cause);
    }
  }
  const auto takes = listed.size() > 1 ? replay(Mending(times, suspects).mended(listed)) : std::nullopt;
  all.gain = takes && *takes > 0 ? std::max(1.0, verdict.replayed * 1'000 / *takes) : first.gain;
  const bool is_enough = first.gain > kWorthIt && all.gain <= kMuchMore * first.gain;
  return is_enough || listed.size() < 2 ? first : all;
}

// Of a step as it is, the part that it takes less.
double saved(const Advice& advice) { return 1 - 1 / advice.gain; }

}  // namespace

JobTimes without_workers(const JobTimes& times, const std::vector<std::size_t>& places) {
  auto changed = times;
  changed.workers.clear();
  for (std::size_t i = 0; i < times.workers.size(); ++i) {
    if (std::ranges::find(places, i) == places.end()) {
      changed.workers.push_back(times.workers[i]);
    }
  }
  return changed;
}

JobTimes with_twice_the_lanes(const JobTimes& times) {
  auto changed = times;
  const auto lanes = times.lanes.size();
  changed.lanes.insert(changed.lanes.end(), times.lanes.begin(), times.lanes.end());
  std::vector<std::size_t> chunks(lanes);
  for (auto& lane : changed.lane_of) {
    if (chunks[lane]++ % 2 == 1) {
      lane += static_cast<std::uint32_t>(lanes);
    }
  }
  return changed;
}

JobTimes with_slots(const JobTimes& times, Slot slots) {
  auto changed = times;
  const auto part = static_cast<double>(times.rules.slots) / static_cast<double>(slots);
  changed.rules.slots = slots;
  for (auto& worker : changed.workers) {
    const auto usual = worker.slot;
    worker.slot *= part;
    worker.fetch *= part;
    std::ranges::transform(worker.reads, worker.reads.begin(), [&](double read) { return read * part; });
    for (auto& step : worker.slots) {
      // What it takes beyond the usual is no work that is shared out.
      std::ranges::transform(step, step.begin(),
                             [&](double slot) { return std::min(slot, usual) * part + std::max(slot - usual, 0.0); });
    }
  }
  return changed;
}

JobTimes with_items(const JobTimes& times) {
  auto changed = times;
  constexpr double kLongSlots = 0.9;
  std::vector<double> slots;
  double longest = 0;
  for (auto& worker : changed.workers) {
    std::vector<double> own;
    for (const auto& step : worker.slots) {
      own.insert(own.end(), step.begin(), step.end());
    }
    longest = std::max({longest, worker.slot, quantile(std::move(own), kLongSlots)});
    slots.push_back(worker.slot);
    worker.fetch = std::max(worker.fetch - worker.slot, 0.0);  // what a reader is late by
    worker.reads.clear();
    // Others go on meanwhile.
    const auto all = static_cast<double>(times.steps * times.workers.size());
    worker.lost = std::min(worker.lost, worker.odd / all);
  }
  const auto usual = median(std::move(slots));
  const auto slowest = usual > 0 ? std::max(1.0, longest / usual) : 1;
  const auto others = static_cast<double>(times.workers.size() - 1);
  constexpr double kMostBound = 1e9;
  changed.items = GrantRules{static_cast<std::uint32_t>(std::min(std::ceil((slowest + 1) * others), kMostBound)), 1};
  return changed;
}

Advice advice(const JobTimes& times, const Verdict& verdict) {
  const auto as_is = verdict.replayed * 1'000;
  Candidates candidates(as_is);
  leave_out(times, slow_workers(times, verdict), candidates);
  add_lanes(times, candidates);
  if (times.items) {
    speed_up_disks(times, verdict, candidates);
    widen_bound(times, candidates);
  } else {
    change_slots(times, candidates);
  }
  auto mended = mend(times, verdict);
  if (mended.who.empty()) {
    mended = Advice{};
  }
  auto best = candidates.best().value_or(Advice{});
  if (const auto ssp = times.items ? std::nullopt : as_ssp(times, as_is, std::max({best.gain, mended.gain, 1.0}))) {
    return *ssp;
  }
  const bool is_worth_more = mended.gain > kMuchMore && saved(mended) > kFarMore * saved(best);
  if (best.gain > kWorthIt && !is_worth_more) {
    if (mended.gain > kMuchMore * best.gain) {
      best.to_mend = mended.who;
      best.mended = mended.gain;
    }
    return best;
  }
  if (mended.gain <= kMuchMore) {
    if (const auto few = fewer(times, as_is)) {
      return *few;
    }
  }
  return mended.gain > kWorthIt ? mended : Advice{};
}

}  // namespace ballast::insight
