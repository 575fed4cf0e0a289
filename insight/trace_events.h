// A job's trace as Perfetto and Chrome read it.
#pragma once

#include <ostream>

#include "insight/job_trace.h"

namespace ballast::insight {

// One JSON object in the Trace Event Format, which holds every record: a process for each process, in it a track for
// what one thread does one after the other, and spans of their own for what overlaps. Microseconds of the lead's clock
// from the first record on. Whatever names hold, it is well-formed.
void write_trace_events(std::ostream& out, const JobTrace& trace);

}  // namespace ballast::insight
