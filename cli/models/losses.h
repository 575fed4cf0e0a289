// `ballast losses`: the training loss of each step that a run's databases know, as CSV.
#pragma once

#include <string>

namespace ballast {

// Prints a line of names, step,loss,accuracy,examples, and one for each step: the means over the step's examples,
// before its update. Numbers read back as the same floats. Returns the exit code. Throws std::runtime_error if the
// folder cannot be read, or standard output not be written.
int print_losses(const std::string& folder);

}  // namespace ballast
