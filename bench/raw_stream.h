// The transport's limit: two processes that move the same bytes both ways at once over one bare socket pair.
#pragma once

#include <cstddef>
#include <string>

namespace ballast::bench {

// Bytes a second one way while both directions run; the mean of the two directions. Each side sends on one thread and
// receives on another, between arrays of `array_bytes`, in pieces of 1 MiB, with socket buffers of 4 MiB where the
// system grants them. `transport`: tcp (loopback) or ipc (a Unix socket). Forks: no other thread may be running.
// Throws std::runtime_error.
double raw_bytes_per_second(const std::string& transport, std::size_t array_bytes, double seconds);

}  // namespace ballast::bench
