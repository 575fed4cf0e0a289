// What a job's mode comes to, in a line for people.
#pragma once

#include <string>

#include "common/job/spec.h"

namespace ballast {

// E.g. "local: 10 steps of adamw a slot, averaged".
std::string mode_text(const TrainingSpec& training);

// E.g. "snapshots every 200 steps, 2 kept".
std::string durability_text(const DurabilitySpec& durability);

}  // namespace ballast
