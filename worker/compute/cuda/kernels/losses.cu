#include "worker/compute/cuda/kernels/losses.h"

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

struct Largest {
  float value;
  std::uint32_t at;
};

__device__ bool beats(const Largest& a, const Largest& b) {
  return a.value > b.value || (a.value == b.value && a.at < b.at);
}

// The largest logit and the first place that has it. Where one is not a number the answer may be any, but the sum of
// the exponentials, which takes in all of them, is not a number then.
__device__ Largest warp_largest(const float* logits, std::uint32_t classes) {
  const std::uint32_t lane = threadIdx.x;
  Largest mine{logits[lane < classes ? lane : 0], lane < classes ? lane : 0};
  for (std::uint32_t j = lane + kWarp; j < classes; j += kWarp) {
    const Largest other{logits[j], j};
    mine = beats(other, mine) ? other : mine;
  }
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    const Largest other{__shfl_down_sync(kWholeWarp, mine.value, distance),
                        __shfl_down_sync(kWholeWarp, mine.at, distance)};
    mine = beats(other, mine) ? other : mine;
  }
  return {__shfl_sync(kWholeWarp, mine.value, 0), __shfl_sync(kWholeWarp, mine.at, 0)};
}

// Class j counts (label == j ? of_label : 0) + of_each * its weight.
struct Target {
  double of_label;
  double of_each;
  double sum;  // over all classes
};

__device__ Target target_of(const SoftmaxShape& s, std::int32_t label, double share, const float* weights) {
  const double of_label = share * (1.0 - s.smoothing) * static_cast<double>(weights[label]);
  const double of_each = share * s.smoothing / s.classes;
  return {of_label, of_each, of_label + of_each * s.all_weights};
}

// The loss of a row, in every lane: the sum over the classes of what each counts times -log of its probability.
__device__ double row_loss(const SoftmaxShape& s, const Target& target, std::int32_t label, const float* weights,
                           const float* logits, double log_sum) {
  double of_each = 0;
  if (target.of_each > 0) {
    for (std::uint32_t j = threadIdx.x; j < s.classes; j += kWarp) {
      of_each += static_cast<double>(weights[j]) * (log_sum - static_cast<double>(logits[j]));
    }
    of_each = warp_sum(of_each);
  }
  return target.of_label * (log_sum - static_cast<double>(logits[label])) + target.of_each * of_each;
}

// One warp, which is a whole block, for each row.
__global__ void softmax(SoftmaxShape s, const std::int32_t* labels, const double* shares, const float* weights,
                        const float* all_logits, double* all_probabilities, double* losses, std::int32_t* correct) {
  const std::size_t row = blockIdx.x;
  const float* const logits = all_logits + row * s.classes;
  double* const probabilities = all_probabilities + row * s.classes;
  const Largest largest = warp_largest(logits, s.classes);
  double total = 0;
  for (std::uint32_t j = threadIdx.x; j < s.classes; j += kWarp) {
    probabilities[j] = exp(static_cast<double>(logits[j]) - static_cast<double>(largest.value));
    total += probabilities[j];
  }
  total = warp_sum(total);
  for (std::uint32_t j = threadIdx.x; j < s.classes; j += kWarp) {
    probabilities[j] /= total;
  }
  const std::int32_t label = labels[row];
  double loss = 0;
  if (label >= 0) {
    loss = row_loss(s, target_of(s, label, shares[row], weights), label, weights, logits,
                    log(total) + static_cast<double>(largest.value));
  }
  if (threadIdx.x == 0) {
    losses[row] = loss;
    correct[row] = label >= 0 && largest.at == static_cast<std::uint32_t>(label) ? 1 : 0;
  }
}

__global__ void softmax_backward(SoftmaxShape s, const std::int32_t* labels, const double* shares, const float* weights,
                                 const double* probabilities, double scale, float* gradient) {
  for (std::size_t i = first_element(); i < std::size_t{s.rows} * s.classes; i += all_threads()) {
    const std::size_t row = i / s.classes;
    const auto j = static_cast<std::int32_t>(i % s.classes);
    double difference = 0;
    if (labels[row] >= 0) {
      const Target target = target_of(s, labels[row], shares[row], weights);
      const double wanted =
          (labels[row] == j ? target.of_label : 0.0) + target.of_each * static_cast<double>(weights[j]);
      difference = target.sum * probabilities[i] - wanted;
    }
    gradient[i] = static_cast<float>(difference * scale);
  }
}

struct Squared {
  static __device__ double loss(double y, double target) { return (y - target) * (y - target); }
  static __device__ double derivative(double y, double target) { return 2.0 * (y - target); }
  static __device__ double prediction(double y) { return y; }
};

struct Logistic {
  // log(1 + e^z), z = y or -y, without overflow.
  static __device__ double loss(double y, double target) {
    const double z = target > 0.5 ? -y : y;
    return (z > 0 ? z : 0.0) + log1p(exp(-fabs(z)));
  }
  static __device__ double derivative(double y, double target) { return prediction(y) - target; }
  static __device__ double prediction(double y) { return 1.0 / (1.0 + exp(-y)); }
};

// One warp, which is a whole block, for each example.
template <typename Rule>
__global__ void output_loss(std::size_t outputs, const float* all_y, const float* all_targets, double* predictions,
                            double* losses) {
  const std::size_t first = blockIdx.x * outputs;
  double sum = 0;
  for (std::size_t i = first + threadIdx.x; i < first + outputs; i += kWarp) {
    const auto y = static_cast<double>(all_y[i]);
    sum += Rule::loss(y, static_cast<double>(all_targets[i]));
    predictions[i] = Rule::prediction(y);
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    losses[blockIdx.x] = sum / static_cast<double>(outputs);
  }
}

template <typename Rule>
__global__ void output_loss_backward(std::size_t n, double of_each, const float* y, const float* targets,
                                     float* gradient) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    gradient[i] =
        static_cast<float>(Rule::derivative(static_cast<double>(y[i]), static_cast<double>(targets[i])) * of_each);
  }
}

// Calls run(a rule).
template <typename Run>
cudaError_t with_output_rule(OutputRule rule, const Run& run) {
  return rule == OutputRule::squared ? run(Squared()) : run(Logistic());
}

}  // namespace

cudaError_t launch_softmax(const SoftmaxShape& shape, const SoftmaxTargets& targets, const float* logits,
                           double* probabilities, double* losses, std::int32_t* correct, cudaStream_t stream) {
  return launch(softmax, {shape.rows, kWarp}, stream, shape, targets.labels, targets.shares, targets.weights, logits,
                probabilities, losses, correct);
}

cudaError_t launch_softmax_backward(const SoftmaxShape& shape, const SoftmaxTargets& targets,
                                    const double* probabilities, float scale, float* gradient, cudaStream_t stream) {
  return launch(softmax_backward, threads_for(std::size_t{shape.rows} * shape.classes), stream, shape, targets.labels,
                targets.shares, targets.weights, probabilities, static_cast<double>(scale), gradient);
}

cudaError_t launch_output_loss(OutputRule rule, const OutputShape& shape, const float* y, const float* targets,
                               double* predictions, double* losses, cudaStream_t stream) {
  return with_output_rule(rule, [&]<typename Rule>(Rule /*rule*/) {
    return launch(output_loss<Rule>, {shape.examples, kWarp}, stream, shape.outputs, y, targets, predictions, losses);
  });
}

cudaError_t launch_output_loss_backward(OutputRule rule, const OutputShape& shape, const float* y, const float* targets,
                                        float scale, float* gradient, cudaStream_t stream) {
  const std::size_t n = shape.examples * shape.outputs;
  const double of_each = static_cast<double>(scale) / static_cast<double>(shape.outputs);
  return with_output_rule(rule, [&]<typename Rule>(Rule /*rule*/) {
    return launch(output_loss_backward<Rule>, threads_for(n), stream, n, of_each, y, targets, gradient);
  });
}

}  // namespace ballast::cuda
