// Chunks to shards and lanes: the longest-processing-time rule of R. L. Graham, "Bounds on Multiprocessing Timing
// Anomalies", 1969. Largest chunk first, each to the owner with the fewest bytes so far; ties go to the lower id.
#include "common/arena/placement.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

namespace ballast {
namespace {

// Hands out owners: the next one is the one with the fewest bytes, the lowest number among equals.
class Scale {
 public:
  explicit Scale(std::uint32_t owners) {
    for (std::uint32_t owner = 0; owner < owners; ++owner) {
      loads_.emplace(0, owner);
    }
  }

  std::uint32_t put(std::uint64_t bytes) {
    const auto [load, owner] = loads_.top();
    loads_.pop();
    loads_.emplace(load + bytes, owner);
    return owner;
  }

 private:
  using Load = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads_;
};

}  // namespace

Placement::Placement(const Arena& arena, std::uint32_t shards, std::uint32_t lanes)
    : lanes_(lanes), owners_(arena.chunks.size()), shards_(shards) {
  if (shards == 0 || lanes == 0) {
    throw std::invalid_argument("chunks cannot be placed on " + std::to_string(shards) + " shards with " +
                                std::to_string(lanes) + " lanes; both must be at least 1");
  }
  std::vector<const Chunk*> largest_first;
  for (const Chunk& chunk : arena.chunks) {
    largest_first.push_back(&chunk);
  }
  std::ranges::stable_sort(largest_first, std::greater<>(), &Chunk::elements);

  Scale shard_scale(shards);
  std::vector<Scale> lane_scales(shards, Scale(lanes));
  for (const Chunk* chunk : largest_first) {
    const std::uint32_t shard = shard_scale.put(chunk->bytes());
    owners_[chunk->id] = {shard, lane_scales[shard].put(chunk->bytes())};
  }
  for (const Chunk& chunk : arena.chunks) {
    shards_[owners_[chunk.id].shard].push_back(chunk);
  }
}

std::vector<Chunk> Placement::of_lane(std::uint32_t shard, std::uint32_t lane) const {
  std::vector<Chunk> chunks;
  std::ranges::copy_if(of_shard(shard), std::back_inserter(chunks),
                       [&](const Chunk& chunk) { return owners_[chunk.id].lane == lane; });
  return chunks;
}

std::vector<Chunk> Placement::of_model(std::uint32_t shard) const {
  std::vector<Chunk> chunks;
  std::ranges::copy_if(of_shard(shard), std::back_inserter(chunks),
                       [](const Chunk& chunk) { return chunk.group != Group::statistics; });
  return chunks;
}

}  // namespace ballast
