// ballast-hostile LEAD roots SESSION    says hello to the lanes of shard 0 like a worker, and brings them ahead of the
//                                       others with whole roots of its own invention
// ballast-hostile LEAD results SECONDS  sends results of evaluations that nobody has asked it for, again and again
//
// Prints a line for each thing that came of it; exit code 1: a lane or the lead did not answer at all.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/arena/placement.h"
#include "common/job/evaluation_metrics.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/steps.h"
#include "common/net/peer.h"
#include "tests/cluster/malformed/probe.h"

namespace {

using namespace ballast;             // NOLINT: this program is about ballast
using namespace ballast::malformed;  // NOLINT

constexpr Step kRoots = 4;  // one after the other

// Nothing: the lead does not let it in.
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

// A lane of shard 0, its chunks, and a connection to it.
struct Victim {
  std::vector<Chunk> chunks;
  Probe probe;
  Timeline timeline = 0;
};

// Whether the lane lets it in.
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

// Where the chunk is: of a version that is gone the lane says which it has.
Step version_of(Victim& victim, ChunkId chunk) {
  victim.probe.send(Pull{victim.timeline, 0, {chunk}});
  const auto answer = victim.probe.any();
  const auto* gone = answer ? std::get_if<Gone>(&*answer) : nullptr;
  if (gone == nullptr) {
    throw std::runtime_error("version 0 is not gone: begin later");
  }
  return gone->newest;
}

bool push_root(Victim& victim, const Chunk& chunk, Step step, Slot slots) {
  const Push push{victim.timeline, step, chunk.id, {0, slots}, false, kNoSlot, {}};
  victim.probe.send(Frames{encoded(push), Bytes(chunk.bytes())});
  const auto answer = victim.probe.any();
  if (!answer) {
    throw std::runtime_error("a lane does not answer a push");
  }
  if (const auto* refused = std::get_if<Refused>(&*answer)) {
    std::printf("push refused: %s\n", refused->text.c_str());
    return false;
  }
  std::printf("root of step %llu, chunk %u: taken\n", static_cast<unsigned long long>(step), chunk.id);
  return true;
}

void push_roots(zmq::context_t& context, const std::string& address, SessionId session) {
  Probe lead(context, address, session_routing_id(session));
  const auto welcome = welcome_from(lead);
  if (!welcome) {
    return;
  }
  const auto job = make_job(parse_job(welcome->job, "the lead's job"));
  const Placement placement(job.arena, welcome->shards, welcome->lanes);
  std::vector<Victim> victims;
  victims.reserve(welcome->lanes);
  for (const auto& entry : welcome->addresses) {
    if (entry.lane.shard != 0) {
      continue;
    }
    auto& victim = victims.emplace_back(Victim{{}, Probe(context, entry.address, session_routing_id(session))});
    for (const auto& chunk : job.arena.chunks) {
      if (LaneId{placement[chunk.id].shard, placement[chunk.id].lane} == entry.lane) {
        victim.chunks.push_back(chunk);
      }
    }
    if (!greet(victim, job)) {
      return;
    }
  }
  for (Step i = 0; i < kRoots; ++i) {
    for (auto& victim : victims) {
      for (const auto& chunk : victim.chunks) {
        if (!push_root(victim, chunk, version_of(victim, chunk.id), job.spec.training.slots)) {
          return;
        }
      }
    }
  }
}

// All wrong answers, of the first item of every version that may be evaluated.
void send_results(Probe& lead, const Job& job, Timeline timeline) {
  constexpr std::uint64_t kExamplesOfItem = 500;
  const auto rules = metric_rules(job.spec.model, job.shape);
  const auto sizes = split_sizes(job.spec.data);
  const auto every = job.steps.steps_per_epoch * job.spec.training.evaluate_every_epochs;
  for (Step step = every;; step += every) {
    const auto version = std::min<Step>(step, job.steps.steps);
    for (const auto split : {Split::validation, Split::test}) {
      const auto all = split == Split::test ? sizes.test : sizes.validation;
      lead.send(EvaluationResult{timeline, split, 0, version, 1e6, 0, std::min<std::uint64_t>(all, kExamplesOfItem),
                                 std::vector<std::uint64_t>(rules.counts()), std::vector<double>(rules.sums())});
    }
    if (version == job.steps.steps) {
      return;
    }
  }
}

void flood_results(zmq::context_t& context, const std::string& address, double seconds) {
  Probe lead(context, address, session_routing_id(70));
  const auto welcome = welcome_from(lead);
  if (!welcome) {
    return;
  }
  const auto job = make_job(parse_job(welcome->job, "the lead's job"));
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < until) {
    send_results(lead, job, welcome->timeline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("sent\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: ballast-hostile LEAD roots SESSION | results SECONDS\n", stderr);
    return 2;
  }
  try {
    zmq::context_t context(1);
    if (std::string(argv[2]) == "roots") {
      push_roots(context, argv[1], std::strtoull(argv[3], nullptr, 10));
    } else {
      flood_results(context, argv[1], std::strtod(argv[3], nullptr));
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-hostile: %s\n", error.what());
    return 1;
  }
}
