// Kernels of attention, between its products. Sums are in double, in the order of keys. All pointers are of the device;
// each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ballast::cuda {

// Scores are examples x heads x queries x keys; steps of each of the last two.
struct AttentionShape {
  std::size_t examples = 0;
  std::size_t heads = 0;
  std::size_t steps = 0;
  bool causal = false;  // a query sees no later keys
};

// Each query's softmax over the keys that it sees, of which there are at most its example's length; 0 for the others.
// In place.
cudaError_t launch_attention_weights(const AttentionShape& shape, const std::uint32_t* lengths, float* scores,
                                     cudaStream_t stream);
// The gradient of the weights becomes that of the scores, times `scale`; 0 for keys that are not seen. In place.
cudaError_t launch_attention_weights_backward(const AttentionShape& shape, const std::uint32_t* lengths,
                                              const float* weights, float scale, float* gradient, cudaStream_t stream);

}  // namespace ballast::cuda
