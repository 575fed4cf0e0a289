#include "protocol/lead/typical_pace.h"

#include <algorithm>

namespace ballast {

namespace {

template <typename T>
void replace(std::vector<T>& sorted, const std::optional<T>& before, const std::optional<T>& after) {
  if (before == after) {
    return;
  }
  if (before) {
    sorted.erase(std::ranges::lower_bound(sorted, *before));
  }
  if (after) {
    sorted.insert(std::ranges::upper_bound(sorted, *after), *after);
  }
}

// The upper one.
template <typename T>
T median_of(const std::vector<T>& sorted, T otherwise) {
  return sorted.empty() ? otherwise : sorted[sorted.size() / 2];
}

// Without one that is `own`.
template <typename T>
T median_beside(const std::vector<T>& sorted, const std::optional<T>& own, T otherwise) {
  if (!own) {
    return median_of(sorted, otherwise);
  }
  const auto others = sorted.size() - 1;
  const auto place = static_cast<std::size_t>(std::ranges::lower_bound(sorted, *own) - sorted.begin());
  return others == 0 ? otherwise : sorted[others / 2 + (others / 2 < place ? 0 : 1)];
}

}  // namespace

void TypicalPace::learn(const KnownPace& before, const KnownPace& after) {
  replace(lags_, before.lag, after.lag);
  replace(slots_, before.slot, after.slot);
  replace(ups_, before.up, after.up);
}

void TypicalPace::settle() {
  pace_ = {median_of(lags_, pace_.lag), median_of(slots_, pace_.slot), median_of(ups_, pace_.up)};
}

SessionPace TypicalPace::pace_beside(const KnownPace& own) const {
  return {median_beside(lags_, own.lag, pace_.lag), median_beside(slots_, own.slot, pace_.slot),
          median_beside(ups_, own.up, pace_.up)};
}

}  // namespace ballast
