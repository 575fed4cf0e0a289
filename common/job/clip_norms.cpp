#include "common/job/clip_norms.h"

#include <algorithm>
#include <cmath>

#include "common/arena/pieces.h"

namespace ballast {

ClipSpec clip_of_updates(const TrainingSpec& training) {
  return training.mode == Mode::local ? ClipSpec{} : training.clip;
}

ClipNorms clip_norms(const ClipSpec& clip, const Arena& arena) {
  ClipNorms norms;
  if (!clip.global_norm && !clip.tensor_norm) {
    return norms;
  }
  norms.limit = clip.global_norm ? *clip.global_norm : *clip.tensor_norm;
  norms.count = clip.global_norm ? 1 : static_cast<std::uint32_t>(arena.parameters.size());
  norms.of_chunk.resize(arena.chunks.size());
  for (const auto& chunk : arena.chunks) {
    auto& of_chunk = norms.of_chunk[chunk.id];
    if (is_descended(chunk.group) && clip.global_norm) {
      of_chunk = {0};
    } else if (is_descended(chunk.group)) {
      for (const auto& piece : pieces_of(arena, chunk)) {
        of_chunk.push_back(piece.parameter);
      }
    }
  }
  return norms;
}

float clip_scale(double limit, double sum) {
  return static_cast<float>(std::min(1.0, limit / (std::sqrt(sum) + 1e-6)));
}

}  // namespace ballast
