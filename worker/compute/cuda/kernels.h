// Kernels of our own, for what cuDNN and cuBLAS do not have or do otherwise than worker/compute/backend.h says: a
// network that diverged must not look healthy, and among equals the first wins. No sum in them depends on the order in
// which threads run. All pointers are of the device; each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ballast::cuda {

// y[i] = max(x[i], 0); not-a-number stays. In place if y == x.
cudaError_t launch_relu(const float* x, float* y, std::size_t n, cudaStream_t stream);

// x_gradient[i] = y[i] > 0 (or not a number) ? y_gradient[i] : 0. In place if x_gradient == y_gradient.
cudaError_t launch_relu_backward(const float* y, const float* y_gradient, float* x_gradient, std::size_t n,
                                 cudaStream_t stream);

// bfloat16 is the upper half of a float's bits. Rounds to the nearest, among equals to the even; not-a-number stays.
cudaError_t launch_round_to_bfloat16(const float* x, std::uint16_t* y, std::size_t n, cudaStream_t stream);
cudaError_t launch_bfloat16_to_float(const std::uint16_t* x, float* y, std::size_t n, cudaStream_t stream);

// A plane is one channel of one example.
struct PoolShape {
  std::size_t planes = 0;
  std::uint32_t x_height = 0;
  std::uint32_t x_width = 0;
  std::uint32_t y_height = 0;
  std::uint32_t y_width = 0;
  std::uint32_t window = 0;
  std::uint32_t stride = 0;
};

// winners[i] = the place of y[i] in its window, in row-major order; the first not-a-number wins over everything.
cudaError_t launch_max_pool(const PoolShape& shape, const float* x, float* y, std::int32_t* winners,
                            cudaStream_t stream);

// Overwrites all of x_gradient; where windows overlap, their gradients are added in row-major order.
cudaError_t launch_max_pool_backward(const PoolShape& shape, const float* y_gradient, const std::int32_t* winners,
                                     float* x_gradient, cudaStream_t stream);

// For each example: the probability of each class, the loss, and 1 if the label has the largest logit (the first among
// equals), else 0.
cudaError_t launch_softmax(std::uint32_t examples, std::uint32_t classes, const float* logits,
                           const std::int32_t* labels, double* probabilities, double* losses, std::int32_t* correct,
                           cudaStream_t stream);

// gradient = (probability - (the class is the label ? 1 : 0)) * scale.
cudaError_t launch_softmax_backward(std::uint32_t examples, std::uint32_t classes, const double* probabilities,
                                    const std::int32_t* labels, float scale, float* gradient, cudaStream_t stream);

}  // namespace ballast::cuda
