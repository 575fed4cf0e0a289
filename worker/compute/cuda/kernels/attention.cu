#include "worker/compute/cuda/kernels/attention.h"

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

__device__ std::size_t keys_seen(const AttentionShape& s, const std::uint32_t* lengths, std::size_t row) {
  const std::size_t length = lengths[row / (s.heads * s.steps)];
  const std::size_t until_query = row % s.steps + 1;
  return s.causal && until_query < length ? until_query : length;
}

// One thread for each query of each head.
__global__ void attention_weights(AttentionShape s, const std::uint32_t* lengths, float* scores) {
  for (std::size_t row = first_element(); row < s.examples * s.heads * s.steps; row += all_threads()) {
    float* const own = scores + row * s.steps;
    const std::size_t seen = keys_seen(s, lengths, row);
    float largest = own[0];
    for (std::size_t key = 1; key < seen; ++key) {
      largest = own[key] > largest ? own[key] : largest;
    }
    double sum = 0;
    for (std::size_t key = 0; key < seen; ++key) {
      own[key] = expf(own[key] - largest);
      sum += static_cast<double>(own[key]);
    }
    for (std::size_t key = 0; key < s.steps; ++key) {
      own[key] = key < seen ? static_cast<float>(static_cast<double>(own[key]) / sum) : 0.0F;
    }
  }
}

__global__ void attention_weights_backward(AttentionShape s, const std::uint32_t* lengths, const float* weights,
                                           float scale, float* gradient) {
  for (std::size_t row = first_element(); row < s.examples * s.heads * s.steps; row += all_threads()) {
    const float* const own_weights = weights + row * s.steps;
    float* const own = gradient + row * s.steps;
    const std::size_t seen = keys_seen(s, lengths, row);
    double mean = 0;
    for (std::size_t key = 0; key < seen; ++key) {
      mean += static_cast<double>(own_weights[key]) * static_cast<double>(own[key]);
    }
    for (std::size_t key = 0; key < s.steps; ++key) {
      const double difference = key < seen ? static_cast<double>(own[key]) - mean : 0.0;
      own[key] = static_cast<float>(static_cast<double>(own_weights[key]) * difference * static_cast<double>(scale));
    }
  }
}

}  // namespace

cudaError_t launch_attention_weights(const AttentionShape& shape, const std::uint32_t* lengths, float* scores,
                                     cudaStream_t stream) {
  return launch(attention_weights, threads_for(shape.examples * shape.heads * shape.steps), stream, shape, lengths,
                scores);
}

cudaError_t launch_attention_weights_backward(const AttentionShape& shape, const std::uint32_t* lengths,
                                              const float* weights, float scale, float* gradient, cudaStream_t stream) {
  return launch(attention_weights_backward, threads_for(shape.examples * shape.heads * shape.steps), stream, shape,
                lengths, weights, scale, gradient);
}

}  // namespace ballast::cuda
