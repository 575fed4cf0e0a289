// How every hostile session begins: as a worker does.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "common/job/job.h"
#include "protocol/messages.h"
#include "tests/cluster/malformed/probe.h"

namespace ballast::hostile {

// Nothing: the lead does not let it in, which is printed. Throws if it does not answer.
std::optional<WorkerWelcome> welcome_from(malformed::Probe& lead);

// A lane, its chunks, and a connection to it.
struct Victim {
  std::vector<Chunk> chunks;
  malformed::Probe probe;
  Timeline timeline = 0;
};

// The lanes of shard 0, none greeted yet.
std::vector<Victim> victims_of(zmq::context_t& context, const Job& job, const WorkerWelcome& welcome,
                               SessionId session);

// Whether the lane lets it in; if not, why is printed.
bool greet(Victim& victim, const Job& job);

// Where the chunk is: of a version that is gone the lane says which it has.
Step version_of(Victim& victim, ChunkId chunk);

}  // namespace ballast::hostile
