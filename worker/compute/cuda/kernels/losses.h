// Kernels of losses, in double. No sum in them depends on the order in which threads run. All pointers are of the
// device; each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ballast::cuda {

struct SoftmaxShape {
  std::uint32_t rows = 0;
  std::uint32_t classes = 0;
  double smoothing = 0;
  double all_weights = 0;  // the sum of the classes' weights
};

// What each row's probabilities are compared with.
struct SoftmaxTargets {
  const std::int32_t* labels;  // -1: none
  const double* shares;        // of its example's loss, by row
  const float* weights;        // by class
};

// For each row: the probability of each class, the loss (0 without a label), and 1 if the label has the largest logit
// (the first among equals), else 0.
cudaError_t launch_softmax(const SoftmaxShape& shape, const SoftmaxTargets& targets, const float* logits,
                           double* probabilities, double* losses, std::int32_t* correct, cudaStream_t stream);

// gradient = scale * the derivative of the losses' sum; 0 in rows without a label.
cudaError_t launch_softmax_backward(const SoftmaxShape& shape, const SoftmaxTargets& targets,
                                    const double* probabilities, float scale, float* gradient, cudaStream_t stream);

// Losses of each output by itself, of which an example's is the mean.
enum class OutputRule : std::uint8_t { squared, logistic };

struct OutputShape {
  std::uint32_t examples = 0;
  std::size_t outputs = 0;  // of each
};

cudaError_t launch_output_loss(OutputRule rule, const OutputShape& shape, const float* y, const float* targets,
                               double* predictions, double* losses, cudaStream_t stream);
// gradient = scale * the derivative of the losses' sum.
cudaError_t launch_output_loss_backward(OutputRule rule, const OutputShape& shape, const float* y, const float* targets,
                                        float scale, float* gradient, cudaStream_t stream);

}  // namespace ballast::cuda
