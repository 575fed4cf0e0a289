// Puts a job's trace together, part by part, from whoever has records of it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "insight/job_trace.h"
#include "protocol/messages/status.h"

namespace ballast::insight {

// Its name in the status, e.g. "worker a"; else name_of(source).
std::string name_in(const Status& status, const TraceSource& source);

struct Collected {
  JobTrace trace;
  bool is_full = false;  // there were more than `most`
};

// Asks and waits for the answer; nothing: there was none in time. The question's number is the asker's.
using AskTrace = std::function<std::optional<TracePart>(const TraceAsked&)>;

// Of the steps from `steps` before the one that is open in `status` on; of each of `who`'s sources one after the other,
// so that nobody has more than one part of it in memory. No more than `most` records, and those of one part.
Collected collect(const Status& status, const TracePart& who, Step steps, std::size_t most, const AskTrace& ask);

}  // namespace ballast::insight
