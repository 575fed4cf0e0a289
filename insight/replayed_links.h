// The links of a replay, each of which carries one message after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/job_times.h"
#include "insight/replay_parts.h"

namespace ballast::insight {

// Moments are the replay's, and calls come in their order.
class ReplayedLinks {
 public:
  // `times` outlives this.
  explicit ReplayedLinks(const JobTimes& times);

  // When the lane has a chunk's contribution, whose last byte has come over its worker's link by `now`, and whose first
  // one could have come at `first`: a worker's messages to several lanes share its link.
  double contribution_there(ChunkId chunk, double first, double now);
  // When the worker has a chunk's weights that its lane sends now.
  double weights_there(std::size_t worker, ChunkId chunk, double now);
  // From when on nothing is on its way to the worker.
  [[nodiscard]] double down_free_at(std::size_t worker) const { return down_[worker].free_at; }

 private:
  [[nodiscard]] std::uint32_t shard_of(ChunkId chunk) const { return times_.lanes[times_.lane_of[chunk]].shard; }

  const JobTimes& times_;
  std::vector<Served> in_;  // by shard
  std::vector<Served> out_;
  Served all_in_;
  Served all_out_;
  std::vector<Served> down_;  // by worker
};

}  // namespace ballast::insight
