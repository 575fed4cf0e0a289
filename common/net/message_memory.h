// Where the bytes of received messages live.
#pragma once

#include <malloc.h>

#include <limits>

namespace ballast {

// ZeroMQ allocates every received chunk anew, and glibc gives freed blocks of that size back to the system, which has
// to fault in every page of the next one: some 5,000 faults and a quarter of the processor time of a step of
// ResNet-50's size. After this call freed memory stays with the process. What it keeps is what it once needed at the
// same time, which credits and reply windows bound. Call it first thing in main.
inline void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes; weights and gradients are larger, and live long
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace ballast
