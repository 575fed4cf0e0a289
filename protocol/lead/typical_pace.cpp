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

}  // namespace

void TypicalPace::learn(const KnownPace& before, const KnownPace& after) {
  replace(lags_, before.lag, after.lag);
  replace(slots_, before.slot, after.slot);
  replace(ups_, before.up, after.up);
}

void TypicalPace::settle() {
  pace_ = {median_of(lags_, pace_.lag), median_of(slots_, pace_.slot), median_of(ups_, pace_.up)};
}

}  // namespace ballast
