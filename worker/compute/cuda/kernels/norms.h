// Kernels of normalizations. Values that share their moments are a set. Sums are in double and in an order that
// follows from the shape alone: a thread for each piece of a set, and then one for each set. All pointers are of the
// device; each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ballast::cuda {

// How an array is cut into sets: it is outer x sets x inner, and a set has what is left over.
struct Sets {
  std::size_t outer = 0;
  std::size_t sets = 0;
  std::size_t inner = 0;

  [[nodiscard]] constexpr std::size_t count() const { return outer * inner; }  // of each set
  [[nodiscard]] constexpr std::size_t pieces() const {                         // of each set
    constexpr std::size_t kOfPiece = 32;
    constexpr std::size_t kMost = 256;
    const std::size_t pieces = (count() + kOfPiece - 1) / kOfPiece;
    return pieces < kMost ? pieces : kMost;
  }
  [[nodiscard]] constexpr std::size_t of(std::size_t element) const { return element / inner % sets; }
};

struct NormShape {
  Sets moments;     // what shares mean and variance
  Sets parameters;  // what shares weight and bias

  // Doubles between two launches.
  [[nodiscard]] constexpr std::size_t scratch() const {
    const std::size_t of_moments = moments.sets * moments.pieces();
    const std::size_t of_parameters = parameters.sets * parameters.pieces();
    return 2 * (of_moments < of_parameters ? of_parameters : of_moments);
  }
};

// By set.
struct NormMoments {
  double* mean = nullptr;
  double* variance = nullptr;  // biased
};

cudaError_t launch_moments(const NormShape& shape, const float* x, const NormMoments& moments, double* scratch,
                           cudaStream_t stream);
// What was learnt of them.
cudaError_t launch_running_moments(const NormShape& shape, const float* running_mean, const float* running_variance,
                                   const NormMoments& moments, cudaStream_t stream);
// The mean, and the variance without bias (of one value, the biased one).
cudaError_t launch_statistics(const NormShape& shape, const NormMoments& moments, float* mean, float* variance,
                              cudaStream_t stream);

// What forward and backward pass read.
struct NormInputs {
  const float* x = nullptr;
  const float* weight = nullptr;
  double epsilon = 0;
};

// y = weight * (x - mean) / sqrt(variance + epsilon) + bias
cudaError_t launch_normalize(const NormShape& shape, const NormInputs& inputs, const NormMoments& moments,
                             const float* bias, float* y, cudaStream_t stream);
cudaError_t launch_norm_parameters(const NormShape& shape, const NormInputs& inputs, const NormMoments& moments,
                                   const float* y_gradient, float* weight_gradient, float* bias_gradient,
                                   double* scratch, cudaStream_t stream);
// x_gradient may be y_gradient.
cudaError_t launch_norm_backward(const NormShape& shape, const NormInputs& inputs, const NormMoments& moments,
                                 const float* y_gradient, float* x_gradient, double* scratch, cudaStream_t stream);

}  // namespace ballast::cuda
