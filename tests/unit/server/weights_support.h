// What tests of LaneWeights have in common: a job, its chunks and roots of steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/arena/pieces.h"
#include "common/job/job.h"
#include "common/job/load.h"
#include "protocol/ids.h"
#include "tests/unit/common/numeric/samples.h"

namespace ballast {

using Floats = std::vector<float>;

// Weights (decay) and biases (no_decay) of sizes that leave padding; big.weight takes several chunks.
inline Job job_of(const std::string& training) {
  return make_job(parse_job(
      "job: weights\nmodel:\n  name: emulated\n  parameters:\n"
      "    - {name: a.weight, shape: [3, 5]}\n    - {name: b.weight, shape: [7, 2]}\n    - {name: c.bias, shape: [9]}\n"
      "    - {name: d.bias, shape: [4]}\n    - {name: big.weight, shape: [700, 1000]}\n"
      "data: {name: none}\ntraining: {max_steps: 9, " +
          training + "}\n",
      "job.yaml"));
}

inline std::vector<ChunkId> all_chunks(const Job& job) {
  std::vector<ChunkId> ids;
  for (const auto& chunk : job.arena.chunks) {
    ids.push_back(chunk.id);
  }
  return ids;
}

inline Floats root_of(const Job& job, ChunkId chunk, std::uint32_t which) {
  auto root = sample(job.arena.chunks[chunk].elements, which);
  const auto pieces = pieces_of(job.arena, job.arena.chunks[chunk]);
  Floats padded(root.size(), 0.0F);
  for (const auto& piece : pieces) {
    std::copy_n(root.begin() + static_cast<std::ptrdiff_t>(piece.offset), piece.elements,
                padded.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  }
  return padded;
}

inline Floats copy(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace ballast
