#include "worker/compute/cuda/kernels/pooling.h"

#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

// The part of one output's window that is no padding, along one side.
struct Side {
  std::uint32_t first;  // input that the part begins at
  std::uint32_t begin;  // places in the window
  std::uint32_t end;
};

__device__ Side side_of(std::uint32_t output, std::uint32_t window, std::uint32_t stride, std::uint32_t padding,
                        std::uint32_t extent) {
  const std::uint32_t start = output * stride;
  const std::uint32_t begin = start < padding ? padding - start : 0;
  const std::uint32_t left = extent + padding - start;
  return {start + begin - padding, begin, window < left ? window : left};
}

// The windows, of those along one side, that cover a place of the input.
struct Windows {
  std::uint32_t begin;
  std::uint32_t end;
};

__device__ Windows windows_at(std::uint32_t place, std::uint32_t window, std::uint32_t stride, std::uint32_t padding,
                              std::uint32_t outputs) {
  const std::uint32_t padded = place + padding;
  const std::uint32_t last = padded / stride;
  return {padded < window ? 0 : (padded - window) / stride + 1, last < outputs ? last + 1 : outputs};
}

// Where an element lies: in x for a gradient, in y for an output.
struct Place {
  std::size_t plane;
  std::uint32_t h;
  std::uint32_t w;
};

__device__ Place place_of(std::size_t i, std::uint32_t height, std::uint32_t width) {
  return {i / (std::size_t{height} * width), static_cast<std::uint32_t>(i / width % height),
          static_cast<std::uint32_t>(i % width)};
}

__device__ const float* first_of(const PoolShape& s, const float* x, std::size_t plane, const Side& h, const Side& w) {
  return x + ((plane * s.x_height + h.first) * s.x_width + w.first);
}

__device__ Side height_of(const PoolShape& s, std::uint32_t output) {
  return side_of(output, s.window.h, s.stride.h, s.padding.h, s.x_height);
}
__device__ Side width_of(const PoolShape& s, std::uint32_t output) {
  return side_of(output, s.window.w, s.stride.w, s.padding.w, s.x_width);
}

// One thread for each output.
__global__ void max_pool(PoolShape s, const float* x, float* y, std::int32_t* winners) {
  const std::size_t outputs = s.planes * s.y_height * s.y_width;
  for (std::size_t i = first_element(); i < outputs; i += all_threads()) {
    const Place at = place_of(i, s.y_height, s.y_width);
    const Side h = height_of(s, at.h);
    const Side w = width_of(s, at.w);
    const float* const corner = first_of(s, x, at.plane, h, w);
    float best = corner[0];
    std::uint32_t winner = h.begin * s.window.w + w.begin;
    for (std::uint32_t kh = h.begin; kh < h.end; ++kh) {
      for (std::uint32_t kw = w.begin; kw < w.end; ++kw) {
        const float value = corner[std::size_t{kh - h.begin} * s.x_width + (kw - w.begin)];
        if (value > best || (isnan(value) && !isnan(best))) {
          best = value;
          winner = kh * s.window.w + kw;
        }
      }
    }
    y[i] = best;
    winners[i] = static_cast<std::int32_t>(winner);
  }
}

// One thread for each input, which asks the windows that cover it.
__global__ void max_pool_backward(PoolShape s, const float* y_gradient, const std::int32_t* winners,
                                  float* x_gradient) {
  const std::size_t inputs = s.planes * s.x_height * s.x_width;
  for (std::size_t i = first_element(); i < inputs; i += all_threads()) {
    const Place at = place_of(i, s.x_height, s.x_width);
    const Windows h = windows_at(at.h, s.window.h, s.stride.h, s.padding.h, s.y_height);
    const Windows w = windows_at(at.w, s.window.w, s.stride.w, s.padding.w, s.y_width);
    float sum = 0.0F;
    for (std::uint32_t oh = h.begin; oh < h.end; ++oh) {
      for (std::uint32_t ow = w.begin; ow < w.end; ++ow) {
        const std::size_t output = (at.plane * s.y_height + oh) * s.y_width + ow;
        const std::uint32_t in_window =
            (at.h + s.padding.h - oh * s.stride.h) * s.window.w + (at.w + s.padding.w - ow * s.stride.w);
        if (static_cast<std::uint32_t>(winners[output]) == in_window) {
          sum += y_gradient[output];
        }
      }
    }
    x_gradient[i] = sum;
  }
}

__device__ double counted(const PoolShape& s, const Side& h, const Side& w) {
  return s.count_padding ? static_cast<double>(s.window.h) * static_cast<double>(s.window.w)
                         : static_cast<double>(h.end - h.begin) * static_cast<double>(w.end - w.begin);
}

// One thread for each output.
__global__ void average_pool(PoolShape s, const float* x, float* y) {
  const std::size_t outputs = s.planes * s.y_height * s.y_width;
  for (std::size_t i = first_element(); i < outputs; i += all_threads()) {
    const Place at = place_of(i, s.y_height, s.y_width);
    const Side h = height_of(s, at.h);
    const Side w = width_of(s, at.w);
    const float* const corner = first_of(s, x, at.plane, h, w);
    double sum = 0;
    for (std::uint32_t kh = 0; kh < h.end - h.begin; ++kh) {
      for (std::uint32_t kw = 0; kw < w.end - w.begin; ++kw) {
        sum += static_cast<double>(corner[std::size_t{kh} * s.x_width + kw]);
      }
    }
    y[i] = static_cast<float>(sum / counted(s, h, w));
  }
}

// One thread for each input.
__global__ void average_pool_backward(PoolShape s, const float* y_gradient, float* x_gradient) {
  const std::size_t inputs = s.planes * s.x_height * s.x_width;
  for (std::size_t i = first_element(); i < inputs; i += all_threads()) {
    const Place at = place_of(i, s.x_height, s.x_width);
    const Windows h = windows_at(at.h, s.window.h, s.stride.h, s.padding.h, s.y_height);
    const Windows w = windows_at(at.w, s.window.w, s.stride.w, s.padding.w, s.y_width);
    double sum = 0;
    for (std::uint32_t oh = h.begin; oh < h.end; ++oh) {
      for (std::uint32_t ow = w.begin; ow < w.end; ++ow) {
        sum += static_cast<double>(y_gradient[(at.plane * s.y_height + oh) * s.y_width + ow]) /
               counted(s, height_of(s, oh), width_of(s, ow));
      }
    }
    x_gradient[i] = static_cast<float>(sum);
  }
}

struct AverageSteps {
  static __device__ float of(const float* x, std::size_t stride, std::uint32_t length, std::int32_t* /*winner*/) {
    double sum = 0;
    for (std::uint32_t step = 0; step < length; ++step) {
      sum += static_cast<double>(x[step * stride]);
    }
    return static_cast<float>(sum / length);
  }
  static __device__ float share(std::uint32_t /*step*/, std::uint32_t length, const std::int32_t* /*winner*/) {
    return 1.0F / static_cast<float>(length);
  }
};

struct LargestStep {
  static __device__ float of(const float* x, std::size_t stride, std::uint32_t length, std::int32_t* winner) {
    float best = x[0];
    *winner = 0;
    for (std::uint32_t step = 1; step < length; ++step) {
      const float value = x[step * stride];
      if (value > best || (isnan(value) && !isnan(best))) {
        best = value;
        *winner = static_cast<std::int32_t>(step);
      }
    }
    return best;
  }
  static __device__ float share(std::uint32_t step, std::uint32_t /*length*/, const std::int32_t* winner) {
    return static_cast<std::uint32_t>(*winner) == step ? 1.0F : 0.0F;
  }
};

struct FirstStep {
  static __device__ float of(const float* x, std::size_t /*stride*/, std::uint32_t /*length*/,
                             std::int32_t* /*winner*/) {
    return x[0];
  }
  static __device__ float share(std::uint32_t step, std::uint32_t /*length*/, const std::int32_t* /*winner*/) {
    return step == 0 ? 1.0F : 0.0F;
  }
};

struct LastStep {
  static __device__ float of(const float* x, std::size_t stride, std::uint32_t length, std::int32_t* /*winner*/) {
    return x[(length - 1) * stride];
  }
  static __device__ float share(std::uint32_t step, std::uint32_t length, const std::int32_t* /*winner*/) {
    return step == length - 1 ? 1.0F : 0.0F;
  }
};

// One thread for each output.
template <typename Rule>
__global__ void step_pool(StepPoolShape s, const std::uint32_t* lengths, const float* x, float* y,
                          std::int32_t* winners) {
  for (std::size_t i = first_element(); i < s.examples * s.features; i += all_threads()) {
    const std::size_t example = i / s.features;
    y[i] = Rule::of(x + example * s.steps * s.features + i % s.features, s.features, lengths[example], winners + i);
  }
}

// One thread for each input.
template <typename Rule>
__global__ void step_pool_backward(StepPoolShape s, const std::uint32_t* lengths, const float* y_gradient,
                                   const std::int32_t* winners, float* x_gradient) {
  for (std::size_t i = first_element(); i < s.examples * s.steps * s.features; i += all_threads()) {
    const std::size_t example = i / s.features / s.steps;
    const auto step = static_cast<std::uint32_t>(i / s.features % s.steps);
    const std::size_t output = example * s.features + i % s.features;
    const float share = step < lengths[example] ? Rule::share(step, lengths[example], winners + output) : 0.0F;
    x_gradient[i] = share == 0.0F ? 0.0F : y_gradient[output] * share;
  }
}

// Calls run(a Rule) for the kind's.
template <typename Run>
cudaError_t with_rule(StepPool::Kind kind, const Run& run) {
  switch (kind) {
    case StepPool::Kind::average:
      return run(AverageSteps());
    case StepPool::Kind::max:
      return run(LargestStep());
    case StepPool::Kind::first:
      return run(FirstStep());
    case StepPool::Kind::last:
      return run(LastStep());
  }
  return cudaErrorInvalidValue;
}

Grid threads_for_outputs(const PoolShape& shape) { return threads_for(shape.planes * shape.y_height * shape.y_width); }
Grid threads_for_inputs(const PoolShape& shape) { return threads_for(shape.planes * shape.x_height * shape.x_width); }

}  // namespace

cudaError_t launch_max_pool(const PoolShape& shape, const float* x, float* y, std::int32_t* winners,
                            cudaStream_t stream) {
  return launch(max_pool, threads_for_outputs(shape), stream, shape, x, y, winners);
}

cudaError_t launch_max_pool_backward(const PoolShape& shape, const float* y_gradient, const std::int32_t* winners,
                                     float* x_gradient, cudaStream_t stream) {
  return launch(max_pool_backward, threads_for_inputs(shape), stream, shape, y_gradient, winners, x_gradient);
}

cudaError_t launch_average_pool(const PoolShape& shape, const float* x, float* y, cudaStream_t stream) {
  return launch(average_pool, threads_for_outputs(shape), stream, shape, x, y);
}

cudaError_t launch_average_pool_backward(const PoolShape& shape, const float* y_gradient, float* x_gradient,
                                         cudaStream_t stream) {
  return launch(average_pool_backward, threads_for_inputs(shape), stream, shape, y_gradient, x_gradient);
}

cudaError_t launch_step_pool(StepPool::Kind kind, const StepPoolShape& shape, const std::uint32_t* lengths,
                             const float* x, float* y, std::int32_t* winners, cudaStream_t stream) {
  return with_rule(kind, [&]<typename Rule>(Rule /*rule*/) {
    return launch(step_pool<Rule>, threads_for(shape.examples * shape.features), stream, shape, lengths, x, y, winners);
  });
}

cudaError_t launch_step_pool_backward(StepPool::Kind kind, const StepPoolShape& shape, const std::uint32_t* lengths,
                                      const float* y_gradient, const std::int32_t* winners, float* x_gradient,
                                      cudaStream_t stream) {
  return with_rule(kind, [&]<typename Rule>(Rule /*rule*/) {
    return launch(step_pool_backward<Rule>, threads_for(shape.examples * shape.steps * shape.features), stream, shape,
                  lengths, y_gradient, winners, x_gradient);
  });
}

}  // namespace ballast::cuda
