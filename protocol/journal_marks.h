// Sets of marks, in which each life of a shard has one: the furthest that somebody saw of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// Whether it was news. Costs as much as there are marks. A set of `at_most` takes no further life.
inline bool note_mark(std::vector<JournalMark>& marks, const JournalMark& mark,
                      std::size_t at_most = std::numeric_limits<std::size_t>::max()) {
  const auto same = std::ranges::find_if(marks, [&](const JournalMark& known) {
    return known.shard == mark.shard && known.incarnation == mark.incarnation;
  });
  if (same != marks.end()) {
    return std::exchange(same->sequence, std::max(same->sequence, mark.sequence)) < mark.sequence;
  }
  if (marks.size() >= at_most) {
    return false;
  }
  marks.push_back(mark);
  return true;
}

}  // namespace ballast
