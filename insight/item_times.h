// What each piece of work of a job in items takes.
#pragma once

#include <cstddef>
#include <optional>

#include "insight/job_times.h"

namespace ballast::insight {

// As job_times(), of a job in items: from a part of its trace (part_of()), or from as many items as `most` steps have,
// the newest.
std::optional<JobTimes> item_times(const JobTrace& trace, std::size_t most);

}  // namespace ballast::insight
