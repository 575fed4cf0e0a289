// Messages that have left and are not there.
#pragma once

#include <string>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

struct OnTheWay {
  std::string from;  // "worker a", "shard 1 lane 0"
  std::string to;
  std::string what;
  Micros age = 0;  // since the sender's kernel took it
};

// Of steps from `first` on, what has been on its way for `least` or longer, the oldest of each two: contributions that
// their lane has no record of, and weights that their worker has not stored. Of those alone that both told all they
// have. The trace is of the step `first` on, at least.
std::vector<OnTheWay> on_the_way(const JobTrace& trace, Step first, Micros least);

}  // namespace ballast::insight
