#include "tests/cluster/hostile/greeting.h"

#include <cstdio>
#include <stdexcept>
#include <utility>

#include "common/arena/placement.h"
#include "common/net/peer.h"

namespace ballast::hostile {

using malformed::Probe;

std::optional<WorkerWelcome> welcome_from(Probe& lead) {
  lead.send(WorkerHello{"hostile"});
  while (const auto answer = lead.any()) {
    if (const auto* welcome = std::get_if<WorkerWelcome>(&*answer)) {
      return *welcome;
    }
    if (const auto* refused = std::get_if<Refused>(&*answer)) {
      std::printf("the lead refused: %s\n", refused->text.c_str());
      return std::nullopt;
    }
  }
  throw std::runtime_error("the lead does not answer a hello");
}

std::vector<Victim> victims_of(zmq::context_t& context, const Job& job, const WorkerWelcome& welcome,
                               SessionId session) {
  const Placement placement(job.arena, welcome.shards, welcome.lanes);
  std::vector<Victim> victims;
  for (const auto& entry : welcome.addresses) {
    if (entry.lane.shard != 0) {
      continue;
    }
    auto& victim = victims.emplace_back(Victim{{}, Probe(context, entry.address, session_routing_id(session))});
    for (const auto& chunk : job.arena.chunks) {
      if (LaneId{placement[chunk.id].shard, placement[chunk.id].lane} == entry.lane) {
        victim.chunks.push_back(chunk);
      }
    }
  }
  return victims;
}

bool greet(Victim& victim, const Job& job) {
  victim.probe.send(LaneHello{"hostile", job.spec_digest, job.layout_digest});
  const auto answer = victim.probe.any();
  if (const auto* welcome = answer ? std::get_if<LaneWelcome>(&*answer) : nullptr) {
    victim.timeline = welcome->timeline;
    return true;
  }
  const auto* refused = answer ? std::get_if<Refused>(&*answer) : nullptr;
  std::printf("hello refused: %s\n", refused == nullptr ? "without a word" : refused->text.c_str());
  return false;
}

Step version_of(Victim& victim, ChunkId chunk) {
  victim.probe.send(Pull{victim.timeline, 0, {chunk}});
  const auto answer = victim.probe.any();
  const auto* gone = answer ? std::get_if<Gone>(&*answer) : nullptr;
  if (gone == nullptr) {
    throw std::runtime_error("version 0 is not gone: begin later");
  }
  return gone->newest;
}

}  // namespace ballast::hostile
