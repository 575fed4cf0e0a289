// The shells around the cores. Each is a value: what it has pending lies with its host, as data.
#pragma once

#include <variant>

#include "tests/simulation/lane_shell.h"
#include "tests/simulation/lead_shell.h"
#include "tests/simulation/worker_shell.h"

namespace ballast::simulation {

using Shell = std::variant<LeadShell, LaneShell, WorkerShell>;

}  // namespace ballast::simulation
