#include "worker/compute/cuda/kernels/embeddings.h"

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

__global__ void embed(EmbeddingShape s, const std::int32_t* tokens, const std::uint32_t* lengths, const float* weight,
                      float* y) {
  for (std::size_t i = first_element(); i < s.examples * s.steps * s.units; i += all_threads()) {
    const std::size_t row = i / s.units;
    const bool is_padding = row % s.steps >= lengths[row / s.steps];
    y[i] = is_padding ? 0.0F : weight[static_cast<std::size_t>(tokens[row]) * s.units + i % s.units];
  }
}

// One thread for each value of the weights.
__global__ void embed_backward(EmbeddingShape s, const std::uint32_t* rows, const std::uint32_t* begins,
                               const float* y_gradient, bool adds, float* weight_gradient) {
  for (std::size_t i = first_element(); i < s.vectors * s.units; i += all_threads()) {
    const std::size_t token = i / s.units;
    double sum = adds ? static_cast<double>(weight_gradient[i]) : 0.0;
    for (std::uint32_t at = begins[token]; at < begins[token + 1]; ++at) {
      sum += static_cast<double>(y_gradient[rows[at] * s.units + i % s.units]);
    }
    weight_gradient[i] = static_cast<float>(sum);
  }
}

__global__ void add_positions(EmbeddingShape s, const float* x, const float* weight, float* y) {
  const std::size_t of_example = s.steps * s.units;
  for (std::size_t i = first_element(); i < s.examples * of_example; i += all_threads()) {
    y[i] = x[i] + weight[i % of_example];
  }
}

// One thread for each value of the weights.
__global__ void positions_backward(EmbeddingShape s, const float* y_gradient, bool adds, float* weight_gradient) {
  const std::size_t of_example = s.steps * s.units;
  for (std::size_t i = first_element(); i < s.vectors * s.units; i += all_threads()) {
    double sum = adds ? static_cast<double>(weight_gradient[i]) : 0.0;
    for (std::size_t example = 0; example < s.examples && i < of_example; ++example) {
      sum += static_cast<double>(y_gradient[example * of_example + i]);
    }
    weight_gradient[i] = static_cast<float>(sum);
  }
}

}  // namespace

cudaError_t launch_embed(const EmbeddingShape& shape, const std::int32_t* tokens, const std::uint32_t* lengths,
                         const float* weight, float* y, cudaStream_t stream) {
  return launch(embed, threads_for(shape.examples * shape.steps * shape.units), stream, shape, tokens, lengths, weight,
                y);
}

cudaError_t launch_embed_backward(const EmbeddingShape& shape, const std::uint32_t* rows, const std::uint32_t* begins,
                                  const float* y_gradient, bool adds, float* weight_gradient, cudaStream_t stream) {
  return launch(embed_backward, threads_for(shape.vectors * shape.units), stream, shape, rows, begins, y_gradient, adds,
                weight_gradient);
}

cudaError_t launch_add_positions(const EmbeddingShape& shape, const float* x, const float* weight, float* y,
                                 cudaStream_t stream) {
  return launch(add_positions, threads_for(shape.examples * shape.steps * shape.units), stream, shape, x, weight, y);
}

cudaError_t launch_positions_backward(const EmbeddingShape& shape, const float* y_gradient, bool adds,
                                      float* weight_gradient, cudaStream_t stream) {
  return launch(positions_backward, threads_for(shape.vectors * shape.units), stream, shape, y_gradient, adds,
                weight_gradient);
}

}  // namespace ballast::cuda
