#include "worker/compute/cuda/kernels.h"

#include <cuda_bf16.h>

#include "worker/compute/cuda/launch.h"

namespace ballast::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 4096;  // a thread takes several elements of what is larger
constexpr unsigned kWarp = 32;
constexpr unsigned kWholeWarp = 0xFFFFFFFFU;

unsigned blocks_for(std::size_t n) {
  const std::size_t blocks = (n + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

__device__ std::size_t first_element() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::size_t all_threads() { return std::size_t{gridDim.x} * blockDim.x; }

__global__ void relu(const float* x, float* y, std::size_t n) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    y[i] = x[i] <= 0.0F ? 0.0F : x[i];
  }
}

__global__ void relu_backward(const float* y, const float* y_gradient, float* x_gradient, std::size_t n) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    x_gradient[i] = y[i] <= 0.0F ? 0.0F : y_gradient[i];
  }
}

__global__ void round_to_bfloat16(const float* x, std::uint16_t* y, std::size_t n) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    y[i] = __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
  }
}

__global__ void bfloat16_to_float(const std::uint16_t* x, float* y, std::size_t n) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    y[i] = __bfloat162float(__ushort_as_bfloat16(x[i]));
  }
}

// One thread for each output.
__global__ void max_pool(PoolShape s, const float* x, float* y, std::int32_t* winners) {
  const std::size_t outputs = s.planes * s.y_height * s.y_width;
  for (std::size_t i = first_element(); i < outputs; i += all_threads()) {
    const std::size_t plane = i / (std::size_t{s.y_height} * s.y_width);
    const std::size_t oh = i / s.y_width % s.y_height;
    const std::size_t ow = i % s.y_width;
    const float* const corner = x + ((plane * s.x_height + oh * s.stride) * s.x_width + ow * s.stride);
    float best = corner[0];
    std::int32_t winner = 0;
    for (std::uint32_t kh = 0; kh < s.window; ++kh) {
      for (std::uint32_t kw = 0; kw < s.window; ++kw) {
        const float value = corner[std::size_t{kh} * s.x_width + kw];
        if (value > best || (isnan(value) && !isnan(best))) {
          best = value;
          winner = static_cast<std::int32_t>(kh * s.window + kw);
        }
      }
    }
    y[i] = best;
    winners[i] = winner;
  }
}

// The first and the last window, of those along one direction, that cover a place.
__device__ std::uint32_t first_window(std::uint32_t place, const PoolShape& s) {
  return place < s.window ? 0 : (place - s.window) / s.stride + 1;
}
__device__ std::uint32_t last_window(std::uint32_t place, std::uint32_t windows, const PoolShape& s) {
  const std::uint32_t last = place / s.stride;
  return last < windows ? last : windows - 1;
}

// One thread for each input, which asks the windows that cover it.
__global__ void max_pool_backward(PoolShape s, const float* y_gradient, const std::int32_t* winners,
                                  float* x_gradient) {
  const std::size_t inputs = s.planes * s.x_height * s.x_width;
  for (std::size_t i = first_element(); i < inputs; i += all_threads()) {
    const std::size_t plane = i / (std::size_t{s.x_height} * s.x_width);
    const auto h = static_cast<std::uint32_t>(i / s.x_width % s.x_height);
    const auto w = static_cast<std::uint32_t>(i % s.x_width);
    float sum = 0.0F;
    for (std::uint32_t oh = first_window(h, s); oh <= last_window(h, s.y_height, s); ++oh) {
      for (std::uint32_t ow = first_window(w, s); ow <= last_window(w, s.y_width, s); ++ow) {
        const std::size_t output = (plane * s.y_height + oh) * s.y_width + ow;
        const std::uint32_t place = (h - oh * s.stride) * s.window + (w - ow * s.stride);
        if (static_cast<std::uint32_t>(winners[output]) == place) {
          sum += y_gradient[output];
        }
      }
    }
    x_gradient[i] = sum;
  }
}

// Sums over a warp in a fixed tree; every lane gets the same bits, as addition is commutative.
__device__ double warp_sum(double value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kWholeWarp, value, distance);
  }
  return value;
}

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

// One warp, which is a whole block, for each example. In double: a handful of values for each example.
__global__ void softmax(std::uint32_t classes, const float* all_logits, const std::int32_t* labels,
                        double* all_probabilities, double* losses, std::int32_t* correct) {
  const std::size_t example = blockIdx.x;
  const float* const logits = all_logits + example * classes;
  double* const probabilities = all_probabilities + example * classes;
  const Largest largest = warp_largest(logits, classes);
  double total = 0;
  for (std::uint32_t j = threadIdx.x; j < classes; j += kWarp) {
    probabilities[j] = exp(static_cast<double>(logits[j]) - static_cast<double>(largest.value));
    total += probabilities[j];
  }
  total = warp_sum(total);
  for (std::uint32_t j = threadIdx.x; j < classes; j += kWarp) {
    probabilities[j] /= total;
  }
  if (threadIdx.x == 0) {
    const auto label = static_cast<std::uint32_t>(labels[example]);
    losses[example] = log(total) - (static_cast<double>(logits[label]) - static_cast<double>(largest.value));
    correct[example] = largest.at == label ? 1 : 0;
  }
}

__global__ void softmax_backward(std::size_t n, std::uint32_t classes, const double* probabilities,
                                 const std::int32_t* labels, float scale, float* gradient) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    const bool right = static_cast<std::size_t>(labels[i / classes]) == i % classes;
    gradient[i] = static_cast<float>((probabilities[i] - (right ? 1.0 : 0.0)) * static_cast<double>(scale));
  }
}

}  // namespace

cudaError_t launch_relu(const float* x, float* y, std::size_t n, cudaStream_t stream) {
  return launch(relu, {blocks_for(n), kThreads}, stream, x, y, n);
}

cudaError_t launch_relu_backward(const float* y, const float* y_gradient, float* x_gradient, std::size_t n,
                                 cudaStream_t stream) {
  return launch(relu_backward, {blocks_for(n), kThreads}, stream, y, y_gradient, x_gradient, n);
}

cudaError_t launch_round_to_bfloat16(const float* x, std::uint16_t* y, std::size_t n, cudaStream_t stream) {
  return launch(round_to_bfloat16, {blocks_for(n), kThreads}, stream, x, y, n);
}

cudaError_t launch_bfloat16_to_float(const std::uint16_t* x, float* y, std::size_t n, cudaStream_t stream) {
  return launch(bfloat16_to_float, {blocks_for(n), kThreads}, stream, x, y, n);
}

cudaError_t launch_max_pool(const PoolShape& shape, const float* x, float* y, std::int32_t* winners,
                            cudaStream_t stream) {
  const std::size_t outputs = shape.planes * shape.y_height * shape.y_width;
  return launch(max_pool, {blocks_for(outputs), kThreads}, stream, shape, x, y, winners);
}

cudaError_t launch_max_pool_backward(const PoolShape& shape, const float* y_gradient, const std::int32_t* winners,
                                     float* x_gradient, cudaStream_t stream) {
  const std::size_t inputs = shape.planes * shape.x_height * shape.x_width;
  return launch(max_pool_backward, {blocks_for(inputs), kThreads}, stream, shape, y_gradient, winners, x_gradient);
}

cudaError_t launch_softmax(std::uint32_t examples, std::uint32_t classes, const float* logits,
                           const std::int32_t* labels, double* probabilities, double* losses, std::int32_t* correct,
                           cudaStream_t stream) {
  return launch(softmax, {examples, kWarp}, stream, classes, logits, labels, probabilities, losses, correct);
}

cudaError_t launch_softmax_backward(std::uint32_t examples, std::uint32_t classes, const double* probabilities,
                                    const std::int32_t* labels, float scale, float* gradient, cudaStream_t stream) {
  const std::size_t n = std::size_t{examples} * classes;
  return launch(softmax_backward, {blocks_for(n), kThreads}, stream, n, classes, probabilities, labels, scale,
                gradient);
}

}  // namespace ballast::cuda
