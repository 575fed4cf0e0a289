// A job's trace in a file: everything that was measured, to be looked at again later.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "insight/job_trace.h"

namespace ballast::insight {

// One JSON object: "format" 1, the job's name, who did not answer ("silent"), and by process its name, role, place,
// clock and records, each a list of its kind's name and its numbers in the order of TraceRecord.
void write_raw_trace(std::ostream& out, const JobTrace& trace);

// Throws std::runtime_error with what is wrong and where; follows the file's name.
JobTrace read_raw_trace(std::istream& in);

}  // namespace ballast::insight
