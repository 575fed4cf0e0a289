// Kernels of pooling. All pointers are of the device; each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/network/layers.h"

namespace ballast::cuda {

// A plane is one channel of one row.
struct PoolShape {
  std::size_t planes = 0;
  std::uint32_t x_height = 0;
  std::uint32_t x_width = 0;
  std::uint32_t y_height = 0;
  std::uint32_t y_width = 0;
  Pair window = 0;
  Pair stride = 1;
  Pair padding = 0;
  bool count_padding = true;  // in averages
};

// winners[i] = the place of y[i] in its window, in row-major order; the first not-a-number wins over everything, so
// that a network that diverged does not look healthy.
cudaError_t launch_max_pool(const PoolShape& shape, const float* x, float* y, std::int32_t* winners,
                            cudaStream_t stream);
// Overwrites all of x_gradient; where windows overlap, their gradients are added in row-major order.
cudaError_t launch_max_pool_backward(const PoolShape& shape, const float* y_gradient, const std::int32_t* winners,
                                     float* x_gradient, cudaStream_t stream);

cudaError_t launch_average_pool(const PoolShape& shape, const float* x, float* y, cudaStream_t stream);
// Overwrites all of x_gradient.
cudaError_t launch_average_pool_backward(const PoolShape& shape, const float* y_gradient, float* x_gradient,
                                         cudaStream_t stream);

// Of pooling over the steps of each example; lengths[n] of them are its own.
struct StepPoolShape {
  std::size_t examples = 0;
  std::size_t steps = 0;
  std::size_t features = 0;
};

// `winners` of a max: the step of each value, by the same rule as above. Of other kinds it is not used.
cudaError_t launch_step_pool(StepPool::Kind kind, const StepPoolShape& shape, const std::uint32_t* lengths,
                             const float* x, float* y, std::int32_t* winners, cudaStream_t stream);
// Overwrites all of x_gradient.
cudaError_t launch_step_pool_backward(StepPool::Kind kind, const StepPoolShape& shape, const std::uint32_t* lengths,
                                      const float* y_gradient, const std::int32_t* winners, float* x_gradient,
                                      cudaStream_t stream);

}  // namespace ballast::cuda
