#include "common/arena/pieces.h"

#include <algorithm>

namespace ballast {

std::vector<Piece> pieces_of(const Arena& arena, const Chunk& chunk) {
  const std::uint64_t end = chunk.offset + chunk.elements;
  // The first parameter that ends behind the chunk's beginning.
  auto parameter = std::ranges::partition_point(arena.by_offset, [&](std::uint32_t candidate) {
    const auto& [offset, elements] = arena.extents[candidate];
    return offset + elements <= chunk.offset;
  });
  std::vector<Piece> pieces;
  for (; parameter != arena.by_offset.end() && arena.extents[*parameter].offset < end; ++parameter) {
    const auto& extent = arena.extents[*parameter];
    const auto from = std::max(chunk.offset, extent.offset);
    const auto to = std::min(end, extent.offset + extent.elements);
    pieces.push_back({*parameter, from - chunk.offset, to - from, from - extent.offset});
  }
  return pieces;
}

std::vector<std::vector<Part>> parts_of_parameters(const Arena& arena) {
  std::vector<std::vector<Part>> parts(arena.parameters.size());
  for (const Chunk& chunk : arena.chunks) {
    for (const Piece& piece : pieces_of(arena, chunk)) {
      parts[piece.parameter].push_back({chunk.id, piece});
    }
  }
  return parts;
}

}  // namespace ballast
