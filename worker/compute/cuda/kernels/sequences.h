// Kernels that rearrange sequences. All pointers are of the device; each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ballast::cuda {

// Matrices one after the other, rows x columns each, become columns x rows.
struct Matrices {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};
cudaError_t launch_transpose(const Matrices& matrices, const float* x, float* y, cudaStream_t stream);

// Zeros from each example's length on: an example is outer x steps x inner.
struct PaddedSteps {
  std::size_t examples = 0;
  std::size_t outer = 0;
  std::size_t steps = 0;
  std::size_t inner = 0;
};
cudaError_t launch_clear_padding(const PaddedSteps& shape, const std::uint32_t* lengths, float* x, cudaStream_t stream);

}  // namespace ballast::cuda
