// Where values that are measured one after the other change for good.
#pragma once

#include <cstddef>
#include <vector>

namespace ballast::insight {

inline constexpr std::ptrdiff_t kLeastAlike = 4;  // values that a change has before and after it

// Where the newest stretch begins whose values are alike: 0 if all are. A change shifts the median by a tenth at least,
// and by far more than values scatter beside it; a few that are odd are none. It costs n^2 log n of n values.
std::size_t last_change(const std::vector<double>& values);

}  // namespace ballast::insight
