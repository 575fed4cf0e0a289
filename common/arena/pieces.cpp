#include "common/arena/pieces.h"

#include <algorithm>

namespace ballast {

std::vector<Piece> pieces_of(const Arena& arena, const Chunk& chunk) {
  const std::uint64_t end = chunk.offset + chunk.elements;
  // Extents ascend: the first one that ends behind the chunk's beginning.
  auto extent = std::partition_point(arena.extents.begin(), arena.extents.end(), [&](const Extent& candidate) {
    return candidate.offset + candidate.elements <= chunk.offset;
  });
  std::vector<Piece> pieces;
  for (; extent != arena.extents.end() && extent->offset < end; ++extent) {
    const auto from = std::max(chunk.offset, extent->offset);
    const auto to = std::min(end, extent->offset + extent->elements);
    pieces.push_back({static_cast<std::uint32_t>(extent - arena.extents.begin()), from - chunk.offset, to - from,
                      from - extent->offset});
  }
  return pieces;
}

}  // namespace ballast
