// How much memory this process may have.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ballast {

// Bytes: what the machine has, or what the control group of this process, or one above it, allows if that is less; of
// either version of control groups. 0: the system does not tell. `root`: where /proc and /sys are, for tests.
std::uint64_t memory_here(const std::filesystem::path& root = "/");

}  // namespace ballast
