// `ballast check`: is this file good, and what would it do?
#pragma once

#include <string>
#include <vector>

#include "cli/before/data_look.h"
#include "cli/telling/exit_codes.h"

namespace ballast {

// Prints a summary to standard output, or every mistake to standard error. Returns the exit code: kExitBadJob, too, if
// the data were looked at and are not what the job says. Throws ReadFailure if they could not be read now.
int check_job(const std::string& file, const std::vector<std::string>& overrides, DataLook look = DataLook::none);
int check_worker(const std::string& file, const std::vector<std::string>& overrides);

// Over how many examples batch normalization's statistics are, and of what; says so if they are few.
std::string batch_norm_text(const TrainingSpec& training);

// Prints the table of the job's network instead: cli/before/shapes.h.
int check_shapes(const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ballast
