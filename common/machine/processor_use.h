// What this process has had of processors, and what it was kept from.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ballast {

// How a control group was held back for its processor quota (cpu.stat).
struct Throttling {
  std::uint64_t periods = 0;    // in which it had work, and a quota
  std::uint64_t throttled = 0;  // of them, those in which the quota was used up
  double seconds = 0;           // for which processors held back its threads; of all processors together
  bool operator==(const Throttling&) const = default;
};

// All totals so far; 0 where the system does not tell, or what it tells is no number. `root`: where /proc and /sys are,
// for tests.

// Of all threads of this process.
double processor_seconds();
// That the hypervisor has given to others; of all processors of the machine.
double stolen_seconds(const std::filesystem::path& root = "/");
// Of this process's control group or one above it: the one that was held back for longest.
Throttling throttling_here(const std::filesystem::path& root = "/");

}  // namespace ballast
