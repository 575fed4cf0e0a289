#pragma once

#include <CLI/CLI.hpp>

#include "common/health/health.h"

namespace ballast {

// Defines --health and --alive, which ask a process of this role at HOST:PORT, print one line and end the program with
// 0 or 1, whatever else is required.
void add_health_options(CLI::App& app, Role role);

}  // namespace ballast
