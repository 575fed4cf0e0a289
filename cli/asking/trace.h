// `ballast trace`: what the processes of a running job have measured of its last steps, on one clock, as Perfetto and
// Chrome read it.
#pragma once

#include <optional>
#include <string>

#include "insight/job_trace.h"
#include "protocol/ids.h"

namespace ballast {

struct TraceOptions {
  std::string where;   // a run's folder or the lead's address
  std::string keys;    // a file of an operator's; empty: none, or those of the run in the folder
  Step steps = 20;     // the newest so many
  std::string output;  // "-": standard output; empty: trace.json, or raw-trace.json where it is raw
  bool raw = false;    // as `ballast analyze` reads it, in the place of what Perfetto does
};

// What the lead and everybody through it has measured; says on standard error who does not answer, and whose clock is
// not known well. Nothing, with the reason on standard error: the lead does not answer, or nobody has measured
// anything.
std::optional<insight::JobTrace> collect_trace(const TraceOptions& options);

// The exit code: 1 if the lead does not answer, or nobody has measured anything.
int show_trace(const TraceOptions& options);

}  // namespace ballast
