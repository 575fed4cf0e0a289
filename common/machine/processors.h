// How many processors this process may use at a time.
#pragma once

#include <filesystem>

namespace ballast {

// Those that it may run on (its affinity), or what the quota of its control group, or of one above it, comes to if that
// is less: a quota of 50 ms in each 100 ms is 0.5. Of either version of control groups. `root`: where /proc and /sys
// are, for tests.
double processors_here(const std::filesystem::path& root = "/");

}  // namespace ballast
