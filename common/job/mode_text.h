// What a job's mode comes to, in a line for people.
#pragma once

#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// E.g. "local: 10 steps of adamw a slot, averaged".
std::string mode_text(const TrainingSpec& training);

// "of 12 workers at most 8 find work at a time: training.slots is 8", or empty if all do.
std::string idle_workers_text(const JobSpec& spec);

// Settings of the cluster that are not followed as they stand, a line each: a patience that another one cuts, and what
// the mode does not know.
std::vector<std::string> cluster_notes(const JobSpec& spec);

// E.g. "snapshots every 200 steps, 2 kept".
std::string durability_text(const DurabilitySpec& durability);

}  // namespace ballast
