// What messages between workers and lanes take of processors here.
#pragma once

#include <cstdint>

#include "common/job/job.h"

namespace ballast {

// Microseconds of processors for one message with a payload.
struct MessageProbe {
  double sent = 0;      // by the thread that writes it and hands it to the transport
  double received = 0;  // by the thread that takes it from the transport and reads it
  double carried = 0;   // by the transport's threads of one side, and the kernel for them
};

// Contributions of so many bytes each, over TCP on loopback, for about so long. Starts threads, which have ended when
// it returns. Throws std::runtime_error where messages do not come through.
MessageProbe probe_messages(const Job& job, std::uint64_t bytes, double seconds);

}  // namespace ballast
