#include "insight/worker_stops.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

using BySteps = std::map<Step, double>;
using ByLanes = std::map<std::uint64_t, BySteps>;

// How long a version's weights were on their way, the longest, by lane.
ByLanes longest_ways(const Peers& peers, const ProcessTrace& worker, Step first, std::size_t steps) {
  ByLanes longest;
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

// How long a step's contributions took from when they were ready until the kernel had them, the longest, by lane.
ByLanes longest_sends(const ProcessTrace& worker, Step first, std::size_t steps) {
  ByLanes longest;
  for (const auto& record : worker.records) {
    if (record.kind == TraceKind::push && record.step >= first && record.step < first + steps && record.first != 0 &&
        record.third > record.first) {
      auto& took = longest[record.peer][record.step];
      took = std::max(took, static_cast<double>(record.third - record.first));
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
constexpr double kLongest = 1e12;  // eleven days

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

// What a worker was at, and how many slots of each step it has.
class WorkDone {
 public:
  explicit WorkDone(const ProcessTrace& worker) {
    for (const auto& record : worker.records) {
      const bool is_slot = record.kind == TraceKind::slot;
      if (is_slot) {
        ++slots_[record.step];
        spans_.emplace_back(record.first, record.fourth);
      }
      if (is_slot || record.kind == TraceKind::weights) {
        begun_.emplace_back(record.first, record.step);
      }
    }
    std::ranges::sort(begun_);
    for (std::size_t i = 1; i < begun_.size(); ++i) {
      begun_[i].second = std::max(begun_[i].second, begun_[i - 1].second);
    }
  }

  // Of the last slot, or weights, that it had by then.
  [[nodiscard]] Step step(Micros at) const {
    const auto after = std::ranges::upper_bound(begun_, at, {}, &std::pair<Micros, Step>::first);
    return after == begun_.begin() ? 0 : std::prev(after)->second;
  }
  // In all of the time it was in a slot of which there is a record.
  [[nodiscard]] bool in_slot(Micros from, Micros until) const {
    return std::ranges::any_of(spans_, [&](const auto& span) { return span.first <= from && span.second >= until; });
  }
  // It has fewer slots of that step than of the one before.
  [[nodiscard]] bool left_unfinished(Step step) const {
    const auto before = step == 0 ? slots_.end() : slots_.find(step - 1);
    const auto own = slots_.find(step);
    return before != slots_.end() && (own == slots_.end() ? 0 : own->second) < before->second;
  }

 private:
  std::map<Step, std::size_t> slots_;
  std::vector<std::pair<Micros, Micros>> spans_;
  std::vector<std::pair<Micros, Step>> begun_;  // when; the newest step by then
};

// Whether it looks at its connections so often that it can't be silent for long: with many lanes it does so more
// seldom.
bool looks_often(const ProcessTrace& worker) {
  std::vector<Micros> looks;
  for (const auto& record : worker.records) {
    if (record.kind == TraceKind::link) {
      looks.push_back(record.first);
    }
  }
  std::ranges::sort(looks);
  std::vector<double> apart;
  for (std::size_t i = 1; i < looks.size(); ++i) {
    if (looks[i] > looks[i - 1]) {
      apart.push_back(static_cast<double>(looks[i] - looks[i - 1]));
    }
  }
  return !looks.empty() && median(std::move(apart)) < kPatience;
}

// By what a step's messages took longer than is usual, of all lanes' the least: one lane's may wait for that lane.
void add_late(const ByLanes& lanes, Step first, std::vector<double>& stops) {
  constexpr double kLate = 60'000;
  BySteps least;
  for (const auto& [lane, steps] : lanes) {
    const auto usual = usual_of(steps);
    for (const auto& [step, took] : steps) {
      const auto late = took > usual + std::max(usual, kLate) ? std::min(took - usual, kLongest) : 0;
      const auto [known, is_first] = least.try_emplace(step, late);
      known->second = is_first ? late : std::min(known->second, late);
    }
  }
  for (const auto& [step, late] : least) {
    stops[step - first] += late;
  }
}

}  // namespace

void add_silences(const ProcessTrace& worker, Step first, WorkerTimes& times) {
  constexpr std::size_t kMost = 64;  // of a window: who is given up so often has no slots
  const bool looks = looks_often(worker);
  const WorkDone work(worker);
  const auto moments = moments_of(worker);
  std::size_t silences = 0;
  for (std::size_t i = 1; i < moments.size() && silences < kMost; ++i) {
    const auto silent = std::min(static_cast<double>(moments[i] - moments[i - 1]), kLongest);
    if (silent < kPatience) {
      continue;
    }
    ++silences;
    const auto step = work.step(moments[i - 1]);
    // Who looks at no connections may have had nothing to do.
    if (step < first || step >= first + times.stops.size() || !(looks || work.left_unfinished(step)) ||
        work.in_slot(moments[i - 1], moments[i])) {
      continue;
    }
    // The next step's weights may have been late by as much.
    auto* stop = &times.stops[step - first];
    const bool is_last = step + 1 == first + times.stops.size();
    if (is_last || *(stop + 1) < silent / 2) {
      *stop = std::max(*stop, silent);
    }
  }
}

std::vector<double> worker_stops(const Peers& peers, const ProcessTrace& worker, Step first, std::size_t steps) {
  std::vector<double> stops(steps, 0);
  // With one lane alone, what leaves late may have waited for it.
  if (const auto sends = longest_sends(worker, first, steps); sends.size() > 1) {
    add_late(sends, first, stops);
  }
  if (worker.clock) {
    std::vector<double> ways(steps, 0);
    add_late(longest_ways(peers, worker, first, steps), first, ways);
    const auto late_sends = stops;
    for (std::size_t step = 0; step < steps; ++step) {
      // The same stop may have held the contributions of the step before.
      const auto known = step == 0 ? 0 : late_sends[step - 1];
      stops[step] += std::max(0.0, ways[step] - known);
    }
  }
  return stops;
}

}  // namespace ballast::insight
