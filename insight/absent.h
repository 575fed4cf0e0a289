// Workers that bring nothing to a job, as its lead has it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "insight/job_trace.h"
#include "protocol/messages/status.h"

namespace ballast::insight {

// Names of lives that are over, and were not refused, under which nobody lives now; sorted.
std::vector<std::string> not_back(const Status& status);

// The first so many of them, "a, b and 3 more"; empty: there are none.
std::string names_not_back(const Status& status, std::size_t most);

// Those, whoever is refused work, and whoever is not counted on; while the job trains. The hundred first of them.
std::vector<Absent> absent(const Status& status);

}  // namespace ballast::insight
