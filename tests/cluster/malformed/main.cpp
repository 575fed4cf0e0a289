// ballast-malformed LEAD [KEYS]: sends a running cluster everything that is no message of its job, and checks that each
// is refused with words that name what is wrong. Exit code 0: all was as expected. The job must not notice.

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>

#include "common/arena/placement.h"
#include "common/job/load.h"
#include "common/net/peer.h"
#include "tests/cluster/malformed/cases.h"

namespace {

using namespace ballast;             // NOLINT: this program is about ballast
using namespace ballast::malformed;  // NOLINT

constexpr std::size_t kAtLeast = 700;  // a cluster without a lane, or an empty list of kinds, would pass otherwise

// As a worker learns it.
WorkerWelcome ask(zmq::context_t& context, const std::string& lead) {
  Probe worker(context, lead, session_routing_id(66));
  worker.send(WorkerHello{"malformed"});
  auto welcome = worker.answer<WorkerWelcome>();
  if (!welcome) {
    throw std::runtime_error("the lead at " + lead + " gives no welcome");
  }
  worker.send(Goodbye{"only asked for addresses"});
  worker.send(StatusRequest{});
  return *welcome;
}

std::vector<LaneTarget> lanes_of(const Job& job, const WorkerWelcome& welcome) {
  const Placement placement(job.arena, welcome.shards, welcome.lanes);
  std::vector<LaneTarget> lanes;
  for (const auto& entry : welcome.addresses) {
    const auto name = "shard " + std::to_string(entry.lane.shard) + " lane " + std::to_string(entry.lane.lane);
    auto& lane = lanes.emplace_back(LaneTarget{{name, entry.address}, entry.lane, {}, {}});
    for (const auto& chunk : job.arena.chunks) {
      const auto& owner = placement[chunk.id];
      const bool own = LaneId{owner.shard, owner.lane} == entry.lane;
      (own ? lane.own : lane.other).push_back(chunk);
    }
  }
  return lanes;
}

bool run(const std::string& lead) {
  zmq::context_t context(1);
  const auto welcome = ask(context, lead);
  const auto job = make_job(parse_job(welcome.job, "the lead's job"));
  Judge judge;
  for (const auto& lane : lanes_of(job, welcome)) {
    lane_cases(judge, context, job, lane);
  }
  lead_cases(judge, context, job, {"lead", lead});
  return judge.verdict(kAtLeast);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: ballast-malformed LEAD [KEYS], a folder\n", stderr);
    return 2;
  }
  if (argc == 3) {
    Probe::use_keys(argv[2]);
  }
  try {
    return run(argv[1]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-malformed: %s\n", error.what());
    return 1;
  }
}
