// The final weights of a shard, written by all its lanes: the word `finished` comes after the last tensor of the last
// lane, and no lane is told before that word is durable.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "common/store/shard_store.h"

namespace ballast {

class FinalWriter {
 public:
  struct ChunkContent {
    ChunkId chunk = 0;
    std::span<const float> weights;
    std::span<const float> momentum;  // empty: the chunk has none
  };

  FinalWriter(ShardStore& store, std::uint32_t lanes) : store_(store), lanes_(lanes) {}

  // Called once by each lane, from a thread that may wait: returns when the shard's `finished` is durable, or with the
  // first failure of any lane.
  StoreStatus write(const FinishedRecord& end, const std::vector<ChunkContent>& chunks);
  // Lets those who wait for other lanes go: the process is ending.
  void cancel();

 private:
  StoreStatus write_tensors(const FinishedRecord& end, const std::vector<ChunkContent>& chunks);

  ShardStore& store_;
  std::uint32_t lanes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t written_ = 0;
  bool ended_ = false;
  StoreStatus outcome_;
};

}  // namespace ballast
