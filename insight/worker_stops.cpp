#include "insight/worker_stops.h"

#include <algorithm>
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

}  // namespace

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
