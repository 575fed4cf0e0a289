#include "common/job/trust_ratios.h"

#include <cassert>
#include <cstddef>

#include "common/arena/pieces.h"

namespace ballast {

TrustNorms trust_norms(const Descents& descents, const Arena& arena) {
  TrustNorms norms;
  if (descents.kinds.empty() || !has_trust_ratios(descents.kinds.front().optimizer.kind)) {
    return norms;
  }
  norms.count = 2 * static_cast<std::uint32_t>(arena.parameters.size());
  norms.of_chunk.resize(arena.chunks.size());
  for (const auto& chunk : arena.chunks) {
    if (!is_descended(chunk.group)) {
      continue;
    }
    for (const auto& piece : pieces_of(arena, chunk)) {
      if (has_trust_ratio(descents.of(piece.parameter))) {
        norms.of_chunk[chunk.id].push_back(2 * piece.parameter);
        norms.of_chunk[chunk.id].push_back(2 * piece.parameter + 1);
      }
    }
  }
  return norms;
}

std::vector<float> trust_ratios(const Descents& descents, const std::vector<double>& sums) {
  assert(sums.size() == 2 * descents.of_parameter.size());
  std::vector<float> ratios;
  for (std::size_t p = 0; p < descents.of_parameter.size(); ++p) {
    ratios.push_back(trust_ratio(descents.of(p).optimizer, {sums[2 * p], sums[2 * p + 1]}));
  }
  return ratios;
}

}  // namespace ballast
