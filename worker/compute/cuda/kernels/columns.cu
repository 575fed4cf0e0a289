#include "worker/compute/cuda/kernels/columns.h"

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

// Each piece has every pieces()-th row.
__global__ void sum_some_rows(Columns s, const float* x, double* scratch) {
  const std::size_t pieces = s.pieces();
  for (std::size_t i = first_element(); i < pieces * s.columns; i += all_threads()) {
    double sum = 0;
    for (std::size_t row = i / s.columns; row < s.rows; row += pieces) {
      sum += static_cast<double>(x[row * s.stride + i % s.columns]);
    }
    scratch[i] = sum;
  }
}

__global__ void settle_columns(Columns s, bool adds, const double* scratch, float* sums) {
  for (std::size_t column = first_element(); column < s.columns; column += all_threads()) {
    double sum = adds ? static_cast<double>(sums[column]) : 0.0;
    for (std::size_t piece = 0; piece < s.pieces(); ++piece) {
      sum += scratch[piece * s.columns + column];
    }
    sums[column] = static_cast<float>(sum);
  }
}

}  // namespace

cudaError_t launch_sum_columns(const Columns& shape, const float* x, bool adds, double* scratch, float* sums,
                               cudaStream_t stream) {
  if (shape.rows > 0) {
    const cudaError_t status = launch(sum_some_rows, threads_for(shape.scratch()), stream, shape, x, scratch);
    if (status != cudaSuccess) {
      return status;
    }
  }
  return launch(settle_columns, threads_for(shape.columns), stream, shape, adds, scratch, sums);
}

}  // namespace ballast::cuda
