#include "worker/welcome.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/arena/placement.h"
#include "common/job/load.h"
#include "common/net/descriptors.h"

namespace ballast {

namespace {

constexpr std::size_t kDescriptorsBeside = 64;  // lanes: data files, the log, metrics

// A socket has a descriptor by which it is woken, one for its connection, and those of two sockets by which it is
// watched.
constexpr std::size_t kDescriptorsOfLane = 4;

void check_descriptors(const std::vector<LaneAddress>& addresses) {
  const auto lanes = addresses.size();
  const auto needed = kDescriptorsBeside + kDescriptorsOfLane * lanes;
  if (const auto limit = descriptor_limit(); limit < needed) {
    throw std::runtime_error("the job has " + std::to_string(lanes) + " lanes, for which a worker needs " +
                             std::to_string(needed) + " files open at once, and this process may have " +
                             std::to_string(limit) + ": " + kDescriptorRemedy);
  }
}

}  // namespace

Job job_of(const WorkerWelcome& welcome) {
  auto job = make_job(parse_job(welcome.job, "the lead's job"));
  if (job.spec_digest != welcome.spec_digest || job.layout_digest != welcome.layout_digest) {
    throw std::runtime_error("this worker reads the lead's job as another one (digest " + job.spec_digest +
                             " against " + welcome.spec_digest + "): run the same version of Ballast everywhere");
  }
  return job;
}

void check_lanes(const WorkerWelcome& welcome) {
  for (std::size_t i = 0; i < welcome.addresses.size(); ++i) {
    const LaneId expected{static_cast<std::uint32_t>(i / welcome.lanes), static_cast<std::uint32_t>(i % welcome.lanes)};
    if (welcome.addresses[i].lane != expected) {
      throw std::runtime_error("the lead's list of lanes is not in order");
    }
  }
  if (welcome.addresses.size() != std::size_t{welcome.shards} * welcome.lanes) {
    throw std::runtime_error("the lead's list of lanes is not complete");
  }
  check_descriptors(welcome.addresses);
}

void complete(WorkerLayout& layout, const Job& job, std::uint32_t shards, std::uint32_t lanes_per_shard) {
  layout.slots = job.spec.training.slots;
  if (is_item_mode(job.spec.training.mode)) {
    layout.mode = ItemWork::Rules{is_journaled(job.spec)};
  }
  layout.averages = averages_weights(job.spec.training);
  layout.lanes = shards * lanes_per_shard;
  layout.spec_digest = job.spec_digest;
  layout.layout_digest = job.layout_digest;
  layout.lead_silence = Micros{job.spec.cluster.patience} * 1'000'000;
  const Placement placement(job.arena, shards, lanes_per_shard);
  for (const auto& chunk : job.arena.chunks) {
    layout.chunks.push_back({chunk.id, placement.lane_of_all(chunk.id), chunk.bytes()});
  }
}

}  // namespace ballast
