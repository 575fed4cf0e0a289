// Sets of marks, in which each life of a shard has one: the furthest that somebody saw of it.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// Costs as much as there are marks.
inline void note_mark(std::vector<JournalMark>& marks, const JournalMark& mark) {
  const auto same = std::ranges::find_if(marks, [&](const JournalMark& known) {
    return known.shard == mark.shard && known.incarnation == mark.incarnation;
  });
  if (same != marks.end()) {
    same->sequence = std::max(same->sequence, mark.sequence);
  } else {
    marks.push_back(mark);
  }
}

}  // namespace ballast
