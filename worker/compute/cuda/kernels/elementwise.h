// Kernels that compute each value by itself. All pointers are of the device; a result may lie where a value of the same
// place is read from. Each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/network/layers.h"
#include "common/numeric/philox.h"

namespace ballast::cuda {

// bfloat16 is the upper half of a float's bits. Rounds to the nearest, among equals to the even; not-a-number stays.
cudaError_t launch_round_to_bfloat16(const float* x, std::uint16_t* y, std::size_t n, cudaStream_t stream);
cudaError_t launch_bfloat16_to_float(const std::uint16_t* x, float* y, std::size_t n, cudaStream_t stream);

cudaError_t launch_add(const float* a, const float* b, float* sum, std::size_t n, cudaStream_t stream);

// A matrix, or a part of one: so many values from one row to the next.
struct Rows {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t x_stride = 0;
  std::size_t y_stride = 0;
};
cudaError_t launch_copy_rows(const Rows& rows, const float* x, float* y, cudaStream_t stream);

inline cudaError_t launch_copy(const float* x, float* y, std::size_t n, cudaStream_t stream) {
  return launch_copy_rows({1, n, n, n}, x, y, stream);
}

// Whether the derivative follows from the result: then an activation may write over its input.
constexpr bool follows_from_result(const Activation& activation) {
  return activation.kind != Activation::Kind::gelu &&
         (activation.kind != Activation::Kind::leaky_relu || activation.slope > 0);
}

cudaError_t launch_activation(const Activation& activation, const float* x, float* y, std::size_t n,
                              cudaStream_t stream);
// `known`: the result where the derivative follows from it, otherwise the input. Of relu: not-a-number lets the
// gradient through.
cudaError_t launch_activation_backward(const Activation& activation, const float* known, const float* y_gradient,
                                       float* x_gradient, std::size_t n, cudaStream_t stream);

// y[i] = x[i] * (the stream's draw first_draw + i, as a uniform number, is below the rate ? 0 : 1 / (1 - rate)).
// first_draw is a multiple of 4.
struct DropoutDraws {
  RandomStream stream = RandomStream(RandomKey());
  std::uint64_t first_draw = 0;
  float rate = 0;
};
cudaError_t launch_dropout(const DropoutDraws& draws, const float* x, float* y, std::size_t n, cudaStream_t stream);

}  // namespace ballast::cuda
