// Workers that bring nothing to a job, as its lead has it.
#pragma once

#include <cstddef>
#include <string>

#include "insight/job_trace.h"
#include "protocol/messages/status.h"

namespace ballast::insight {

// The first so many names, sorted, of lives that are over, and were not refused, under which nobody lives now: "a, b
// and 3 more"; empty: there are none.
std::string names_not_back(const Status& status, std::size_t most);

// While the job trains: whoever is not counted on, but where all wait for something else (it does not `go_on`); whoever
// is refused; and whoever was lost without a goodbye and is not back, the last one first.
AllAbsent absent(const Status& status, bool goes_on);

// What the whole job waits for; empty: it goes on, as far as the lead knows.
std::string held(const Status& status);

}  // namespace ballast::insight
