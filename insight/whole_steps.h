// Which steps of a job are measured as a whole, and when each ended.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

struct WholeStep {
  Step step = 0;
  Micros end = 0;  // of its last update, on the lead's clock
  bool operator==(const WholeStep&) const = default;
};

// The newest ones of which each chunk's update is there, one after the other, the newest last, `most` at most. All that
// has contributed to them has said what it computed. A job that was taken back counts steps again: the newest is what
// was updated last. Of a job in items a step is as many items as it has, in the order in which they were done. Empty:
// there is none, or it is not known in which mode the job is.
std::vector<WholeStep> whole_steps(const JobTrace& trace, std::size_t most);

}  // namespace ballast::insight
