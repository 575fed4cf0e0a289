// What a worker's readers take for its slots.
#pragma once

#include <vector>

#include "insight/job_times.h"

namespace ballast::insight {

// Of one slot's examples, which several readers may have read at a time. Microseconds of one clock.
struct SlotRead {
  std::size_t step = 0;  // of those looked at
  double begun = 0;
  double done = 0;
};

struct ReadingTimes {
  double each = 0;              // for a slot, the mean; 0: nothing was read
  std::vector<double> by_step;  // likewise; of a step without slots as in the mean
};

// `slots`: by step, how many the worker had. What readers read together takes as long as they were at it. One that took
// longer than `longest` stood still, and counts as the usual one. What was read for slots that others computed is
// counted to those that were left only if the worker `waited`: else nobody missed it.
ReadingTimes reading_times(const std::vector<SlotRead>& reads, const std::vector<std::size_t>& slots, double longest,
                           bool waited);

}  // namespace ballast::insight
