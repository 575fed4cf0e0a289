// `ballast check`: is this file good, and what would it do?
#pragma once

#include <string>
#include <vector>

#include "cli/telling/exit_codes.h"

namespace ballast {

// Prints a summary to standard output, or every mistake to standard error. Returns the exit code.
int check_job(const std::string& file, const std::vector<std::string>& overrides);
int check_worker(const std::string& file, const std::vector<std::string>& overrides);

// Prints the table of the job's network instead: cli/before/shapes.h.
int check_shapes(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ballast
