// What the records of items have waited for a lane's journal.
#pragma once

#include <cstddef>

#include "insight/job_trace.h"

namespace ballast::insight {

// Microseconds, the mean of those that the lane has measured.
struct RecordWaits {
  std::size_t records = 0;
  double all = 0;    // from when it was given to the journal until it was committed
  double disk = 0;   // of that the journal's thread waited for the disk: all of it where that was not measured
  double syncs = 0;  // of that in syncs: likewise
};

RecordWaits record_waits(const ProcessTrace& lane);

}  // namespace ballast::insight
