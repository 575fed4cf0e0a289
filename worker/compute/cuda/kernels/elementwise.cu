#include "worker/compute/cuda/kernels/elementwise.h"

#include <cuda_bf16.h>

#include <cmath>

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

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

__global__ void add(const float* a, const float* b, float* sum, std::size_t n) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    sum[i] = a[i] + b[i];
  }
}

__global__ void copy_rows(Rows s, const float* x, float* y) {
  for (std::size_t i = first_element(); i < s.rows * s.columns; i += all_threads()) {
    y[i / s.columns * s.y_stride + i % s.columns] = x[i / s.columns * s.x_stride + i % s.columns];
  }
}

struct Relu {
  static __device__ float of(float x, float /*slope*/) { return x <= 0.0F ? 0.0F : x; }
  static __device__ float backward(float known, float gradient, float /*slope*/) {
    return known <= 0.0F ? 0.0F : gradient;
  }
};

struct LeakyRelu {
  static __device__ float of(float x, float slope) { return x < 0.0F ? x * slope : x; }
  static __device__ float backward(float known, float gradient, float slope) {
    return known <= 0.0F ? gradient * slope : gradient;
  }
};

struct Gelu {
  // The standard normal distribution.
  static __device__ float cumulative(float x) { return 0.5F * erfcf(x * -0.70710678F); }
  static __device__ float density(float x) { return 0.39894228F * expf(-0.5F * x * x); }

  static __device__ float of(float x, float /*slope*/) { return x * cumulative(x); }
  static __device__ float backward(float x, float gradient, float /*slope*/) {
    return gradient * (cumulative(x) + x * density(x));
  }
};

struct Tanh {
  static __device__ float of(float x, float /*slope*/) { return tanhf(x); }
  static __device__ float backward(float y, float gradient, float /*slope*/) { return gradient * (1.0F - y * y); }
};

struct Sigmoid {
  static __device__ float of(float x, float /*slope*/) { return 1.0F / (1.0F + expf(-x)); }
  static __device__ float backward(float y, float gradient, float /*slope*/) { return gradient * (y * (1.0F - y)); }
};

template <typename Function>
__global__ void activate(float slope, const float* x, float* y, std::size_t n) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    y[i] = Function::of(x[i], slope);
  }
}

template <typename Function>
__global__ void activate_backward(float slope, const float* known, const float* y_gradient, float* x_gradient,
                                  std::size_t n) {
  for (std::size_t i = first_element(); i < n; i += all_threads()) {
    x_gradient[i] = Function::backward(known[i], y_gradient[i], slope);
  }
}

// Calls run(a Function) for the activation's.
template <typename Run>
cudaError_t with_function(Activation::Kind kind, const Run& run) {
  switch (kind) {
    case Activation::Kind::relu:
      return run(Relu());
    case Activation::Kind::leaky_relu:
      return run(LeakyRelu());
    case Activation::Kind::gelu:
      return run(Gelu());
    case Activation::Kind::tanh:
      return run(Tanh());
    case Activation::Kind::sigmoid:
      return run(Sigmoid());
  }
  return cudaErrorInvalidValue;
}

constexpr std::size_t kDraws = 4;  // of a block of Philox

// One thread for each block of draws. uniform_from's result is (bits >> 8) / 2^24, exactly: what is below `first_kept`
// of these whole numbers is dropped.
__global__ void dropout(RandomStream stream, std::uint64_t first_block, std::uint32_t first_kept, float factor,
                        const float* x, float* y, std::size_t n) {
  for (std::size_t begin = first_element() * kDraws; begin < n; begin += all_threads() * kDraws) {
    const PhiloxBlock block = stream.block(first_block + begin / kDraws);
    for (std::size_t i = begin; i < n && i < begin + kDraws; ++i) {
      y[i] = x[i] * ((block[i - begin] >> 8U) < first_kept ? 0.0F : factor);
    }
  }
}

}  // namespace

cudaError_t launch_round_to_bfloat16(const float* x, std::uint16_t* y, std::size_t n, cudaStream_t stream) {
  return launch(round_to_bfloat16, threads_for(n), stream, x, y, n);
}

cudaError_t launch_bfloat16_to_float(const std::uint16_t* x, float* y, std::size_t n, cudaStream_t stream) {
  return launch(bfloat16_to_float, threads_for(n), stream, x, y, n);
}

cudaError_t launch_add(const float* a, const float* b, float* sum, std::size_t n, cudaStream_t stream) {
  return launch(add, threads_for(n), stream, a, b, sum, n);
}

cudaError_t launch_copy_rows(const Rows& rows, const float* x, float* y, cudaStream_t stream) {
  return launch(copy_rows, threads_for(rows.rows * rows.columns), stream, rows, x, y);
}

cudaError_t launch_activation(const Activation& activation, const float* x, float* y, std::size_t n,
                              cudaStream_t stream) {
  return with_function(activation.kind, [&]<typename Function>(Function /*function*/) {
    return launch(activate<Function>, threads_for(n), stream, activation.slope, x, y, n);
  });
}

cudaError_t launch_activation_backward(const Activation& activation, const float* known, const float* y_gradient,
                                       float* x_gradient, std::size_t n, cudaStream_t stream) {
  return with_function(activation.kind, [&]<typename Function>(Function /*function*/) {
    return launch(activate_backward<Function>, threads_for(n), stream, activation.slope, known, y_gradient, x_gradient,
                  n);
  });
}

cudaError_t launch_dropout(const DropoutDraws& draws, const float* x, float* y, std::size_t n, cudaStream_t stream) {
  const auto first_kept = static_cast<std::uint32_t>(std::ceil(static_cast<double>(draws.rate) * 0x1p24));
  return launch(dropout, threads_for((n + kDraws - 1) / kDraws), stream, draws.stream, draws.first_draw / kDraws,
                first_kept, 1.0F / (1.0F - draws.rate), x, y, n);
}

}  // namespace ballast::cuda
