// The arena: all parameters of a model laid one after the other in one address space of float32, cut into chunks.
// A function of the parameters alone, never of shards or lanes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/arena/parameter.h"

namespace ballast {

inline constexpr std::uint64_t kArenaAlignment = 64;       // bytes; every parameter begins on such a boundary
inline constexpr std::uint64_t kMaxChunkBytes = 1U << 20;  // bytes of one chunk at most
inline constexpr std::uint64_t kMaxArenaFloats = std::uint64_t{1} << 38U;  // 1 TiB: a shape beyond it is a mistake
inline constexpr std::uint32_t kStatisticsFloats = 16;                     // the statistics chunk; see StepStatistics

// Where one parameter lies. Offsets and counts are in floats, not bytes.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t elements = 0;
};

// A contiguous range of the arena inside one group: the unit of placement, transfer, aggregation, update and
// persistence. Offsets and counts are in floats.
struct Chunk {
  std::uint32_t id = 0;
  std::uint64_t offset = 0;
  std::uint64_t elements = 0;
  Group group = Group::decay;

  [[nodiscard]] std::uint64_t bytes() const { return elements * sizeof(float); }
};

// The layout of one model. The last chunk is always the statistics chunk, which belongs to no parameter.
struct Arena {
  std::vector<Parameter> parameters;
  std::vector<Extent> extents;  // one for each parameter
  std::vector<Chunk> chunks;    // in arena order; id == index
  std::uint64_t elements = 0;   // floats in all, the statistics chunk included

  [[nodiscard]] const Chunk& statistics() const { return chunks.back(); }
};

// Lays the parameters out in declaration order and cuts them into chunks. Neighbouring parameters of one group share
// chunks; a group's change or kMaxChunkBytes begins a new chunk. Padding between parameters belongs to chunks and is
// always zero. Throws std::invalid_argument naming the parameter: a name used twice or empty, an extent of 0, an arena
// of more than kMaxArenaFloats.
Arena lay_out(std::vector<Parameter> parameters);

// A digest of the layout (names, shapes, groups, chunk bounds): two processes that agree on it agree on every offset.
std::string layout_digest(const Arena& arena);

}  // namespace ballast
