// Room on a disk.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ballast {

// That this process may still take of the file system that holds `path`; as much as anybody could want if the system
// does not tell. A quota does not show.
std::uint64_t free_bytes(const std::filesystem::path& path);

}  // namespace ballast
