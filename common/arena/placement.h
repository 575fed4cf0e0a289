// Which shard and which of its lanes own each chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/arena/arena.h"

namespace ballast {

struct Owner {
  std::uint32_t shard = 0;
  std::uint32_t lane = 0;  // within the shard
};

// Balanced by bytes; a function of (arena, shards, lanes) alone, and the shard of a chunk does not depend on lanes.
class Placement {
 public:
  // Owns nothing, until one is assigned.
  Placement() = default;
  // Throws std::invalid_argument for 0 shards or 0 lanes.
  Placement(const Arena& arena, std::uint32_t shards, std::uint32_t lanes);

  [[nodiscard]] std::size_t size() const { return owners_.size(); }  // chunks
  [[nodiscard]] const Owner& operator[](std::size_t chunk) const { return owners_[chunk]; }
  // Lanes counted through: those of shard 0 first.
  [[nodiscard]] std::uint32_t lane_of_all(std::size_t chunk) const {
    return owners_[chunk].shard * lanes_ + owners_[chunk].lane;
  }

  // By id.
  [[nodiscard]] const std::vector<Chunk>& of_shard(std::uint32_t shard) const { return shards_.at(shard); }
  [[nodiscard]] std::vector<Chunk> of_lane(std::uint32_t shard, std::uint32_t lane) const;
  // Those of a shard that belong to the model, and so to snapshots: all but the statistics chunk.
  [[nodiscard]] std::vector<Chunk> of_model(std::uint32_t shard) const;

 private:
  std::uint32_t lanes_ = 0;                 // of a shard
  std::vector<Owner> owners_;               // by chunk
  std::vector<std::vector<Chunk>> shards_;  // the chunks of each
};

}  // namespace ballast
