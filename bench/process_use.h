// What a process has used, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace ballast::bench {

struct ProcessUse {
  double cpu_seconds = 0;  // user and system, all threads
  std::uint64_t resident_bytes = 0;
};

// Throws std::runtime_error if there is no such process.
ProcessUse process_use(pid_t pid);

// Of the calling process, exactly.
double own_cpu_seconds();

}  // namespace ballast::bench
