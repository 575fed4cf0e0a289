// Messages that have left and are not there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

// Of one receiver, its oldest.
struct OnTheWay {
  std::string from;  // "worker a", "shard 1 lane 0"
  std::string to;
  bool is_weights = false;  // else a contribution
  Step step = 0;
  ChunkId chunk = 0;
  Micros age = 0;          // at least, since the sender's kernel took it until the receiver told what it has
  std::size_t others = 0;  // that are on their way to the same
};

// Of steps from `first` on, what had been on its way for `least` or longer when its receiver told what it has; by
// receiver, the oldest first. Of jobs in rounds contributions that their lane has not accepted; of all jobs weights
// that their worker has not stored, be it that they have arrived: only then has it a record of them. Left out is
// whatever may be otherwise: what one of the two has lost records of, or has none from before the message left, and
// what left before something that has come the same way. So the trace begins before `first`, with a step at least, if
// there is one.
std::vector<OnTheWay> on_the_way(const JobTrace& trace, Step first, Micros least);

}  // namespace ballast::insight
