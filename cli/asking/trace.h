// `ballast trace`: what the processes of a running job have measured of its last steps, on one clock, as Perfetto and
// Chrome read it.
#pragma once

#include <string>

#include "protocol/ids.h"

namespace ballast {

struct TraceOptions {
  std::string where;                  // a run's folder or the lead's address
  std::string keys;                   // a file of an operator's; empty: none, or those of the run in the folder
  Step steps = 20;                    // the newest so many
  std::string output = "trace.json";  // "-": standard output
};

// The exit code: 1 if the lead does not answer, or nobody has measured anything.
int show_trace(const TraceOptions& options);

}  // namespace ballast
