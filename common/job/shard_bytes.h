// What each shard of a job holds and writes, in bytes. Pure functions of the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/job/job.h"

namespace ballast {

struct ShardBytes {
  std::size_t chunks = 0;
  std::uint64_t weights = 0;   // one version, the statistics chunk included
  std::uint64_t state = 0;     // of the optimizer, and the average of the weights
  std::uint64_t snapshot = 0;  // weights of the model, and state
  std::uint64_t updates = 0;   // of a work item: what the journal holds of it
};

// By shard.
std::vector<ShardBytes> bytes_of_shards(const Job& job);

// durability.every_steps; of a journaled job fewer, where the journal of some shard would otherwise pass
// durability.journal_budget_mb: it holds the updates since a snapshot, and as many more until the next one is durable.
// At least 1.
std::uint32_t steps_between_snapshots(const Job& job);
// "a snapshot every 12 steps instead of 200, so that ..."; empty where every_steps is as it says.
std::string journal_cuts_text(const Job& job);

}  // namespace ballast
