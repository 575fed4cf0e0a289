#include "worker/compute/cuda/kernels/norms.h"

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

struct Sums {
  double first;
  double second;
};

// What sums are of, besides the shape. Where a sum has no use for one, it is any array of the device.
struct Values {
  const float* x;
  const float* weight;
  const float* y_gradient;
  const double* mean;
  const double* variance;
  double epsilon;
};

__device__ double inverse_deviation(const Values& v, std::size_t set) {
  return 1.0 / sqrt(v.variance[set] + v.epsilon);
}
__device__ double normal(const NormShape& s, const Values& v, std::size_t i) {
  const std::size_t set = s.moments.of(i);
  return (static_cast<double>(v.x[i]) - v.mean[set]) * inverse_deviation(v, set);
}

// A term: what element i adds.
struct OfMean {
  static __device__ Sums term(const NormShape& /*s*/, const Values& v, std::size_t i) {
    return {static_cast<double>(v.x[i]), 0};
  }
};

struct OfVariance {
  static __device__ Sums term(const NormShape& s, const Values& v, std::size_t i) {
    const double difference = static_cast<double>(v.x[i]) - v.mean[s.moments.of(i)];
    return {difference * difference, 0};
  }
};

struct OfParameters {
  static __device__ Sums term(const NormShape& s, const Values& v, std::size_t i) {
    const auto gradient = static_cast<double>(v.y_gradient[i]);
    return {gradient * normal(s, v, i), gradient};
  }
};

struct OfInput {
  static __device__ Sums term(const NormShape& s, const Values& v, std::size_t i) {
    const double gradient = static_cast<double>(v.y_gradient[i]) * static_cast<double>(v.weight[s.parameters.of(i)]);
    return {gradient, gradient * normal(s, v, i)};
  }
};

// One thread for each piece, which has every pieces()-th element of its set: threads side by side read what lies side
// by side.
template <typename Of>
__global__ void sum_pieces(NormShape s, Sets sets, const float* x, const float* weight, const float* y_gradient,
                           const double* mean, const double* variance, double epsilon, double* scratch) {
  const Values values{x, weight, y_gradient, mean, variance, epsilon};
  const std::size_t pieces = sets.pieces();
  for (std::size_t at = first_element(); at < sets.sets * pieces; at += all_threads()) {
    const std::size_t set = sets.inner == 1 ? at % sets.sets : at / pieces;
    const std::size_t piece = sets.inner == 1 ? at / sets.sets : at % pieces;
    Sums sums{0, 0};
    for (std::size_t k = piece; k < sets.count(); k += pieces) {
      const Sums term = Of::term(s, values, (k / sets.inner * sets.sets + set) * sets.inner + k % sets.inner);
      sums.first += term.first;
      sums.second += term.second;
    }
    scratch[2 * (set * pieces + piece)] = sums.first;
    scratch[2 * (set * pieces + piece) + 1] = sums.second;
  }
}

__device__ Sums sum_of(const Sets& sets, const double* scratch, std::size_t set) {
  const std::size_t pieces = sets.pieces();
  Sums sums{0, 0};
  for (std::size_t piece = set * pieces; piece < (set + 1) * pieces; ++piece) {
    sums.first += scratch[2 * piece];
    sums.second += scratch[2 * piece + 1];
  }
  return sums;
}

__global__ void settle_moment(Sets sets, const double* scratch, double* moment) {
  for (std::size_t set = first_element(); set < sets.sets; set += all_threads()) {
    moment[set] = sum_of(sets, scratch, set).first / static_cast<double>(sets.count());
  }
}

__global__ void settle_parameters(Sets sets, const double* scratch, float* weight_gradient, float* bias_gradient) {
  for (std::size_t set = first_element(); set < sets.sets; set += all_threads()) {
    const Sums sums = sum_of(sets, scratch, set);
    weight_gradient[set] = static_cast<float>(sums.first);
    bias_gradient[set] = static_cast<float>(sums.second);
  }
}

// Each set's means of both sums, where its first piece was.
__global__ void settle_input(Sets sets, double* scratch) {
  for (std::size_t set = first_element(); set < sets.sets; set += all_threads()) {
    const Sums sums = sum_of(sets, scratch, set);
    scratch[2 * set * sets.pieces()] = sums.first / static_cast<double>(sets.count());
    scratch[2 * set * sets.pieces() + 1] = sums.second / static_cast<double>(sets.count());
  }
}

__global__ void take_running(std::size_t sets, const float* running_mean, const float* running_variance, double* mean,
                             double* variance) {
  for (std::size_t set = first_element(); set < sets; set += all_threads()) {
    mean[set] = static_cast<double>(running_mean[set]);
    variance[set] = static_cast<double>(running_variance[set]);
  }
}

__global__ void give_statistics(Sets sets, const double* mean, const double* variance, float* slot_mean,
                                float* slot_variance) {
  const auto count = static_cast<double>(sets.count());
  for (std::size_t set = first_element(); set < sets.sets; set += all_threads()) {
    slot_mean[set] = static_cast<float>(mean[set]);
    slot_variance[set] = static_cast<float>(variance[set] * (count > 1 ? count / (count - 1) : 1.0));
  }
}

__global__ void normalize(NormShape s, const float* x, const float* weight, const float* bias, const double* mean,
                          const double* variance, double epsilon, float* y) {
  const Values values{x, weight, x, mean, variance, epsilon};
  for (std::size_t i = first_element(); i < s.moments.sets * s.moments.count(); i += all_threads()) {
    const std::size_t parameter = s.parameters.of(i);
    y[i] = static_cast<float>(static_cast<double>(weight[parameter]) * normal(s, values, i) +
                              static_cast<double>(bias[parameter]));
  }
}

__global__ void norm_backward(NormShape s, const float* x, const float* weight, const float* y_gradient,
                              const double* mean, const double* variance, double epsilon, const double* scratch,
                              float* x_gradient) {
  const Values values{x, weight, y_gradient, mean, variance, epsilon};
  for (std::size_t i = first_element(); i < s.moments.sets * s.moments.count(); i += all_threads()) {
    const std::size_t set = s.moments.of(i);
    const double* const means = scratch + 2 * set * s.moments.pieces();
    const double gradient = static_cast<double>(y_gradient[i]) * static_cast<double>(weight[s.parameters.of(i)]);
    x_gradient[i] =
        static_cast<float>(inverse_deviation(values, set) * (gradient - means[0] - normal(s, values, i) * means[1]));
  }
}

template <typename Of>
cudaError_t launch_sums(const NormShape& shape, const Sets& sets, const NormInputs& inputs, const NormMoments& moments,
                        const float* y_gradient, double* scratch, cudaStream_t stream) {
  return launch(sum_pieces<Of>, threads_for(sets.sets * sets.pieces()), stream, shape, sets, inputs.x, inputs.weight,
                y_gradient, moments.mean, moments.variance, inputs.epsilon, scratch);
}

// The first failure.
template <typename... Next>
cudaError_t in_turn(cudaError_t first, const Next&... next) {
  cudaError_t status = first;
  (void)((status == cudaSuccess ? (status = next(), true) : false) && ...);
  return status;
}

}  // namespace

cudaError_t launch_moments(const NormShape& shape, const float* x, const NormMoments& moments, double* scratch,
                           cudaStream_t stream) {
  const Sets& sets = shape.moments;
  const NormInputs inputs{x, x, 0};
  const auto settle = [&](double* moment) {
    return launch(settle_moment, threads_for(sets.sets), stream, sets, scratch, moment);
  };
  return in_turn(
      launch_sums<OfMean>(shape, sets, inputs, moments, x, scratch, stream), [&] { return settle(moments.mean); },
      [&] { return launch_sums<OfVariance>(shape, sets, inputs, moments, x, scratch, stream); },
      [&] { return settle(moments.variance); });
}

cudaError_t launch_running_moments(const NormShape& shape, const float* running_mean, const float* running_variance,
                                   const NormMoments& moments, cudaStream_t stream) {
  return launch(take_running, threads_for(shape.moments.sets), stream, shape.moments.sets, running_mean,
                running_variance, moments.mean, moments.variance);
}

cudaError_t launch_statistics(const NormShape& shape, const NormMoments& moments, float* mean, float* variance,
                              cudaStream_t stream) {
  return launch(give_statistics, threads_for(shape.moments.sets), stream, shape.moments, moments.mean, moments.variance,
                mean, variance);
}

cudaError_t launch_normalize(const NormShape& shape, const NormInputs& inputs, const NormMoments& moments,
                             const float* bias, float* y, cudaStream_t stream) {
  return launch(normalize, threads_for(shape.moments.sets * shape.moments.count()), stream, shape, inputs.x,
                inputs.weight, bias, moments.mean, moments.variance, inputs.epsilon, y);
}

cudaError_t launch_norm_parameters(const NormShape& shape, const NormInputs& inputs, const NormMoments& moments,
                                   const float* y_gradient, float* weight_gradient, float* bias_gradient,
                                   double* scratch, cudaStream_t stream) {
  const Sets& sets = shape.parameters;
  return in_turn(launch_sums<OfParameters>(shape, sets, inputs, moments, y_gradient, scratch, stream), [&] {
    return launch(settle_parameters, threads_for(sets.sets), stream, sets, scratch, weight_gradient, bias_gradient);
  });
}

cudaError_t launch_norm_backward(const NormShape& shape, const NormInputs& inputs, const NormMoments& moments,
                                 const float* y_gradient, float* x_gradient, double* scratch, cudaStream_t stream) {
  const Sets& sets = shape.moments;
  return in_turn(
      launch_sums<OfInput>(shape, sets, inputs, moments, y_gradient, scratch, stream),
      [&] { return launch(settle_input, threads_for(sets.sets), stream, sets, scratch); },
      [&] {
        return launch(norm_backward, threads_for(sets.sets * sets.count()), stream, shape, inputs.x, inputs.weight,
                      y_gradient, moments.mean, moments.variance, inputs.epsilon, scratch, x_gradient);
      });
}

}  // namespace ballast::cuda
