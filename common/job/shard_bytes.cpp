#include "common/job/shard_bytes.h"

#include <algorithm>

#include "common/arena/placement.h"
#include "common/job/optimizer_settings.h"

namespace ballast {

namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

ShardBytes bytes_of(const Job& job, const std::vector<Chunk>& chunks) {
  ShardBytes shard;
  for (const auto& chunk : chunks) {
    ++shard.chunks;
    shard.weights += chunk.bytes();
    if (is_descended(chunk.group)) {
      const auto state = tensors_beside_weights(job.spec.training, chunk.group) * chunk.bytes();
      shard.state += state;
      shard.snapshot += state;
    }
    shard.updates += chunk.bytes();
    shard.snapshot += chunk.group == Group::statistics ? 0 : chunk.bytes();
  }
  return shard;
}

}  // namespace

std::vector<ShardBytes> bytes_of_shards(const Job& job) {
  const Placement placement(job.arena, job.spec.cluster.shards, job.spec.cluster.lanes);
  std::vector<ShardBytes> shards;
  for (std::uint32_t shard = 0; shard < job.spec.cluster.shards; ++shard) {
    shards.push_back(bytes_of(job, placement.of_shard(shard)));
  }
  return shards;
}

std::uint32_t steps_between_snapshots(const Job& job) {
  const auto& durability = job.spec.durability;
  if (!is_journaled(job.spec)) {
    return durability.every_steps;
  }
  const auto shards = bytes_of_shards(job);
  const auto most = std::ranges::max(shards, {}, &ShardBytes::updates).updates * job.spec.training.slots;
  const auto fitting = durability.journal_budget_mb * kMegabyte / 2 / std::max<std::uint64_t>(most, 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, durability.every_steps));
}

std::string journal_cuts_text(const Job& job) {
  const auto steps = steps_between_snapshots(job);
  const auto& durability = job.spec.durability;
  return steps == durability.every_steps ? std::string()
                                         : "a snapshot every " + std::to_string(steps) + " steps instead of " +
                                               std::to_string(durability.every_steps) +
                                               ": the journal of more would pass durability.journal_budget_mb, " +
                                               std::to_string(durability.journal_budget_mb) + " MB";
}

}  // namespace ballast
