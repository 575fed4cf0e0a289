// File descriptors: how many this process may have, and how many it has.
#pragma once

#include <cstdint>

namespace ballast {

// Raises this process's soft limit of open files to the hard one, as anybody may. Returns the limit that holds now.
// Call it first thing in main; processes started later inherit it.
std::uint64_t raise_descriptor_limit();

// The limit that holds now.
std::uint64_t descriptor_limit();

// Those that are open now; the limit itself if the system does not tell. Reads a folder of so many entries.
std::uint64_t open_descriptors();

// Whether the system gives another one now.
bool is_descriptor_free();

// What to do about a limit that is too low; the end of every text that tells of one.
inline constexpr const char* kDescriptorRemedy =
    "raise the limit of open files (ulimit -n, LimitNOFILE= of a systemd unit, --ulimit nofile= of a container)";

}  // namespace ballast
