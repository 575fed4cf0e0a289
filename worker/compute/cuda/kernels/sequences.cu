#include "worker/compute/cuda/kernels/sequences.h"

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

__global__ void transpose(Matrices s, const float* x, float* y) {
  for (std::size_t i = first_element(); i < s.count * s.rows * s.columns; i += all_threads()) {
    const std::size_t matrix = i / (s.rows * s.columns);
    const std::size_t column = i / s.rows % s.columns;
    y[i] = x[(matrix * s.rows + i % s.rows) * s.columns + column];
  }
}

__global__ void clear_padding(PaddedSteps s, const std::uint32_t* lengths, float* x) {
  for (std::size_t i = first_element(); i < s.examples * s.outer * s.steps * s.inner; i += all_threads()) {
    if (i / s.inner % s.steps >= lengths[i / (s.outer * s.steps * s.inner)]) {
      x[i] = 0.0F;
    }
  }
}

}  // namespace

cudaError_t launch_transpose(const Matrices& matrices, const float* x, float* y, cudaStream_t stream) {
  return launch(transpose, threads_for(matrices.count * matrices.rows * matrices.columns), stream, matrices, x, y);
}

cudaError_t launch_clear_padding(const PaddedSteps& shape, const std::uint32_t* lengths, float* x,
                                 cudaStream_t stream) {
  return launch(clear_padding, threads_for(shape.examples * shape.outer * shape.steps * shape.inner), stream, shape,
                lengths, x);
}

}  // namespace ballast::cuda
