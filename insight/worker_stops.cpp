#include "insight/worker_stops.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

using BySteps = std::map<Step, double>;

// How long a version's weights were on their way, the longest, by lane.
std::map<std::uint64_t, BySteps> longest_ways(const Peers& peers, const ProcessTrace& worker, Step first,
                                              std::size_t steps) {
  std::map<std::uint64_t, BySteps> longest;
  for (const auto& record : worker.records) {
    if (record.kind != TraceKind::pull || record.step < first || record.step >= first + steps) {
      continue;
    }
    if (const auto at = on_one_clock(peers, worker, record); at.second != 0 && at.third > at.second) {
      auto& took = longest[record.peer][record.step];
      took = std::max(took, static_cast<double>(at.third - at.second));
    }
  }
  return longest;
}

double usual_of(const BySteps& steps) {
  std::vector<double> all;
  std::ranges::transform(steps, std::back_inserter(all), [](const auto& step) { return step.second; });
  return median(std::move(all));
}

// The least patience that the lead has with a silent worker: protocol/lead/lead.h, worker_silence.
constexpr double kPatience = 1'500'000;

// When it did something, in order. Over tcp it looks at its connections each second, whatever else it has to do.
std::vector<Micros> moments_of(const ProcessTrace& worker) {
  std::vector<Micros> moments;
  for (const auto& record : worker.records) {
    switch (record.kind) {
      case TraceKind::slot:
        moments.insert(moments.end(), {record.first, record.fourth});
        break;
      case TraceKind::fetch:
      case TraceKind::weights:
        moments.insert(moments.end(), {record.first, record.second});
        break;
      case TraceKind::push:
        moments.insert(moments.end(), {record.first, record.second, record.third});
        break;
      case TraceKind::pull:
        moments.insert(moments.end(), {record.first, record.third});
        break;
      case TraceKind::link:
        moments.push_back(record.first);
        break;
      default:
        break;
    }
  }
  std::erase(moments, 0);
  std::ranges::sort(moments);
  return moments;
}

// What it was at.
struct At {
  Step step = 0;            // of the last slot, or weights, that it had by then
  bool in_slot = false;     // a slot of which there is a record
  bool unfinished = false;  // it has fewer slots of that step than of the one before
};

At at_work(const ProcessTrace& worker, Micros from, Micros until) {
  At at;
  std::map<Step, std::size_t> slots;
  for (const auto& record : worker.records) {
    const bool is_slot = record.kind == TraceKind::slot;
    if (is_slot || record.kind == TraceKind::weights) {
      at.step = record.first <= from ? std::max(at.step, record.step) : at.step;
    }
    if (is_slot) {
      ++slots[record.step];
      at.in_slot = at.in_slot || (record.first <= from && record.fourth >= until);
    }
  }
  const auto before = at.step == 0 ? slots.end() : slots.find(at.step - 1);
  at.unfinished = before != slots.end() && slots[at.step] < before->second;
  return at;
}

// Of each step and those after it in which others still compute more than their part.
std::vector<double> held_up(const std::vector<double>& took) {
  constexpr std::size_t kAfter = 3;
  const auto usual = median(took);
  std::vector<double> held(took.size(), 0);
  for (std::size_t step = 0; step < took.size(); ++step) {
    for (auto i = step; i < std::min(took.size(), step + 1 + kAfter); ++i) {
      held[step] += std::max(0.0, took[i] - usual);
    }
  }
  return held;
}

}  // namespace

void shorten_long_stops(const std::vector<double>& took, WorkerTimes& worker) {
  const auto held = held_up(took);
  const auto shortened = [&](double stop, std::size_t step) {
    return stop > kPatience ? std::min(stop, held[step]) : stop;
  };
  for (std::size_t step = 0; step < took.size(); ++step) {
    for (auto& slot : worker.slots[step]) {
      slot = std::min(slot, worker.slot) + shortened(std::max(0.0, slot - worker.slot), step);
    }
    worker.stops[step] = shortened(worker.stops[step], step);
  }
}

void add_silences(const ProcessTrace& worker, Step first, WorkerTimes& times) {
  const bool looks =
      std::ranges::any_of(worker.records, [](const auto& record) { return record.kind == TraceKind::link; });
  const auto moments = moments_of(worker);
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const auto silent = static_cast<double>(moments[i] - moments[i - 1]);
    if (silent < kPatience) {
      continue;
    }
    const auto at = at_work(worker, moments[i - 1], moments[i]);
    // Who looks at no connections may have had nothing to do.
    if (at.in_slot || !(looks || at.unfinished) || at.step < first || at.step >= first + times.stops.size()) {
      continue;
    }
    // The next step's weights may have been late by as much.
    auto* stop = &times.stops[at.step - first];
    const bool is_last = at.step + 1 == first + times.stops.size();
    if (is_last || *(stop + 1) < silent / 2) {
      *stop = std::max(*stop, silent);
    }
  }
}

std::vector<double> worker_stops(const Peers& peers, const ProcessTrace& worker, Step first, std::size_t steps) {
  std::vector<double> stops(steps, 0);
  if (!worker.clock) {
    return stops;
  }
  BySteps least;  // of all lanes
  for (const auto& [lane, ways] : longest_ways(peers, worker, first, steps)) {
    const auto usual = usual_of(ways);
    constexpr double kLate = 100'000;
    constexpr double kLongest = 1e12;  // eleven days
    for (const auto& [step, took] : ways) {
      const auto late = took > 2 * usual + kLate ? std::min(took - usual, kLongest) : 0;
      const auto [known, is_first] = least.try_emplace(step, late);
      known->second = is_first ? late : std::min(known->second, late);
    }
  }
  for (const auto& [step, late] : least) {
    stops[step - first] = late;
  }
  return stops;
}

}  // namespace ballast::insight
