// What links have been seen to carry, for when they are in nobody's way.
#pragma once

#include <vector>

#include "insight/job_times.h"

namespace ballast::insight {

// A link that does not bind has no rate that shows: of what all share a job with one thin link tells nothing, but did
// before the link was thin, and would again without it. Windows of one job are shown oldest first.
class LinkMemory {
 public:
  // Fills in what these times do not tell of the links of servers and of the line.
  void complete(JobTimes& times) const;
  // Keeps what was seen in them, as replays of them were fitted: what was only remembered is not kept again, or it
  // would be fitted again and again.
  void keep(const JobTimes& times);

 private:
  ServerLink servers_;
  std::vector<ServerLink> shards_;
  double line_ = 0;
};

}  // namespace ballast::insight
