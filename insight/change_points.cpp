#include "insight/change_points.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "insight/medians.h"

namespace ballast::insight {
namespace {

constexpr double kLeastShift = 0.1;
// Of the difference of two medians, in its standard errors: so many places are looked at, of so many workers, that five
// would be passed by chance.
constexpr double kBeyondChance = 7;
constexpr double kLeastScatter = 0.01;   // of the median: clocks and timers are no more exact than that
constexpr double kOfDeviation = 1.4826;  // the standard deviation of a normal distribution, in median deviations
constexpr double kOfMedian = 1.2533;     // the standard error of a median, in those of the mean

using Place = std::vector<double>::const_iterator;

// How far each is off the median of its own part.
std::vector<double> deviations(Place begin, Place at, Place end) {
  std::vector<double> off;
  for (const auto& [from, until] : {std::pair(begin, at), std::pair(at, end)}) {
    const auto usual = median({from, until});
    std::transform(from, until, std::back_inserter(off), [&](double each) { return std::abs(each - usual); });
  }
  return off;
}

// Where two parts are most alike in themselves, by absolute deviations: odd values weigh no more than others.
Place best_cut(Place begin, Place end) {
  auto best = end;
  auto least = std::numeric_limits<double>::infinity();
  for (auto at = begin + kLeastAlike; at <= end - kLeastAlike; ++at) {
    const auto off = deviations(begin, at, end);
    const auto sum = std::accumulate(off.begin(), off.end(), 0.0);
    if (sum < least) {
      least = sum;
      best = at;
    }
  }
  return best;
}

bool is_change(Place begin, Place at, Place end) {
  const auto before = median({begin, at});
  const auto after = median({at, end});
  const auto shift = std::abs(after - before);
  if (shift <= kLeastShift * std::min(before, after)) {
    return false;
  }
  const auto scatter =
      std::max(kOfDeviation * median(deviations(begin, at, end)), kLeastScatter * std::min(before, after));
  const auto error =
      kOfMedian * scatter * std::sqrt(1 / static_cast<double>(at - begin) + 1 / static_cast<double>(end - at));
  return shift > kBeyondChance * error;
}

}  // namespace

std::size_t last_change(const std::vector<double>& values) {
  auto begin = values.begin();
  while (values.end() - begin >= 2 * kLeastAlike) {
    const auto at = best_cut(begin, values.end());
    if (!is_change(begin, at, values.end())) {
      break;
    }
    begin = at;
  }
  return static_cast<std::size_t>(begin - values.begin());
}

}  // namespace ballast::insight
