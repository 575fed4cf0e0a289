// Which parts of which parameters a chunk holds.
#pragma once

#include <cstdint>
#include <vector>

#include "common/arena/arena.h"

namespace ballast {

// Floats [offset, offset + elements) of a chunk, which are part of one parameter.
struct Piece {
  std::uint32_t parameter = 0;  // index in the arena
  std::uint64_t offset = 0;     // in the chunk, floats
  std::uint64_t elements = 0;
  std::uint64_t first = 0;  // the piece's first element, counted within the parameter
  bool operator==(const Piece&) const = default;
};

// In the order of the arena, which within a chunk is the model's; padding belongs to none. Empty for the statistics
// chunk.
std::vector<Piece> pieces_of(const Arena& arena, const Chunk& chunk);

// A piece, and the chunk that holds it.
struct Part {
  std::uint32_t chunk = 0;
  Piece piece;
};

// Of each parameter, its parts from the first element to the last.
std::vector<std::vector<Part>> parts_of_parameters(const Arena& arena);

}  // namespace ballast
