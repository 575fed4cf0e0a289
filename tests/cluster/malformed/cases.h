// What is sent, by receiver.
#pragma once

#include <string>
#include <vector>

#include "common/job/job.h"
#include "tests/cluster/malformed/judge.h"

namespace ballast::malformed {

struct Target {
  std::string name;  // for the report: "lead", "shard 0 lane 1"
  std::string address;
};

// Bytes that are no message: of random length and content, truncated messages of every kind, another identifier,
// another version. `probe` is known to the receiver.
void damaged_headers(Judge& judge, Probe& probe, const std::string& name);

// A frame larger than the receiver takes: the connection is cut, and nothing else happens.
void oversize_frames(Judge& judge, zmq::context_t& context, const Target& target, std::size_t mebibytes);

struct LaneTarget : Target {
  LaneId id;
  std::vector<Chunk> own;    // chunks of this lane
  std::vector<Chunk> other;  // chunks of others
};
void lane_cases(Judge& judge, zmq::context_t& context, const Job& job, const LaneTarget& lane);

void lead_cases(Judge& judge, zmq::context_t& context, const Job& job, const Target& lead);

}  // namespace ballast::malformed
