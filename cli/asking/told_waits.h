// Who waits for whom, as the lead, shards, workers and the kernel tell it.
#pragma once

#include <vector>

#include "cli/asking/diagnosis.h"
#include "cli/asking/waits.h"

namespace ballast {

// Of a job that stands still. Nothing is inferred: a wait is here because somebody has said it.
std::vector<Wait> told_waits(const JobSeen& seen);

}  // namespace ballast
