// Which processes share a network link.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ballast {

// The same for all processes of one network namespace of one machine since it has begun; else another, almost surely.
// 0: the system does not tell. `root`: where /proc is, for tests. Thread-safe.
std::uint64_t machine_id(const std::filesystem::path& root = "/");

}  // namespace ballast
