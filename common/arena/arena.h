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

// The layout of one model: all parameters of the group decay, then those of no_decay, then of state, each in the
// model's order, then the statistics chunk, which belongs to no parameter.
struct Arena {
  std::vector<Parameter> parameters;     // in the model's order, first layer first
  std::vector<Extent> extents;           // one for each parameter
  std::vector<std::uint32_t> by_offset;  // the parameters as they lie in the arena, by their indices
  // By the first layer that needs them: the smallest parameter that they hold, then their offset. So they go over the
  // network in the order of their ids, and within a group ids and offsets ascend together. id == index.
  std::vector<Chunk> chunks;
  std::uint64_t elements = 0;  // floats in all, the statistics chunk included

  [[nodiscard]] const Chunk& statistics() const { return chunks.back(); }
};

// Lays the parameters out and cuts each group into chunks, whatever the bounds of its parameters. Padding between
// parameters belongs to chunks and is always zero. Chunks are of kMaxChunkBytes, but the first ones of a group are
// smaller: each is a quarter of what lies before its end, but at least 64 KiB and what would be left with less. So few
// chunks are small, and placement can even out what it makes of the large ones (C. Polychronopoulos, D. Kuck, "Guided
// Self-Scheduling", 1987); and what the backward pass ends with is small.
//
// Throws std::invalid_argument naming the parameter: a name used twice or empty, an extent of 0, an arena of more than
// kMaxArenaFloats.
Arena lay_out(std::vector<Parameter> parameters);

// A digest of the layout (names, shapes, groups, chunk bounds): two processes that agree on it agree on every offset.
std::string layout_digest(const Arena& arena);

}  // namespace ballast
