// The transport's limit: two processes that move the same bytes both ways at once over one bare socket pair.
#pragma once

#include <cstddef>
#include <string>

namespace ballast::bench {

struct RawRate {
  double bytes_per_second = 0;      // one way while both directions run; the mean of the two
  double cpu_seconds_per_byte = 0;  // of both processes, for a byte each way
};

// Each side sends on one thread and receives on another, between arrays of `array_bytes`, in pieces of 1 MiB, with
// socket buffers of 4 MiB where the system grants them; measured once every array has been gone through. `transport`:
// tcp (loopback) or ipc (a Unix socket). Forks: no other thread may be running. Throws std::runtime_error.
RawRate raw_rate(const std::string& transport, std::size_t array_bytes, double seconds);

}  // namespace ballast::bench
