// Kernels of embeddings. Sums are in double, in the order of rows. All pointers are of the device; each returns the
// status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ballast::cuda {

struct EmbeddingShape {
  std::size_t examples = 0;
  std::size_t steps = 0;
  std::size_t units = 0;
  std::size_t vectors = 0;  // that there are: of the vocabulary, or of all positions
};

// y = the vectors of the tokens; zeros from an example's length on.
cudaError_t launch_embed(const EmbeddingShape& shape, const std::int32_t* tokens, const std::uint32_t* lengths,
                         const float* weight, float* y, cudaStream_t stream);
// Rows that have token t: rows[begins[t]] to rows[begins[t + 1] - 1]. With `adds` to what the gradient is.
cudaError_t launch_embed_backward(const EmbeddingShape& shape, const std::uint32_t* rows, const std::uint32_t* begins,
                                  const float* y_gradient, bool adds, float* weight_gradient, cudaStream_t stream);

// y = x + the vector of the step.
cudaError_t launch_add_positions(const EmbeddingShape& shape, const float* x, const float* weight, float* y,
                                 cudaStream_t stream);
// Zeros for steps that there are not.
cudaError_t launch_positions_backward(const EmbeddingShape& shape, const float* y_gradient, bool adds,
                                      float* weight_gradient, cudaStream_t stream);

}  // namespace ballast::cuda
