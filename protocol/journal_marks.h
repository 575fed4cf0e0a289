// Sets of marks, in which each life of a shard has one: the furthest that somebody saw of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// Costs as much as there are marks. A set of `at_most` takes no further life.
inline void note_mark(std::vector<JournalMark>& marks, const JournalMark& mark,
                      std::size_t at_most = std::numeric_limits<std::size_t>::max()) {
  const auto same = std::ranges::find_if(marks, [&](const JournalMark& known) {
    return known.shard == mark.shard && known.incarnation == mark.incarnation;
  });
  if (same != marks.end()) {
    same->sequence = std::max(same->sequence, mark.sequence);
  } else if (marks.size() < at_most) {
    marks.push_back(mark);
  }
}

}  // namespace ballast
