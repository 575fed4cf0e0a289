#include <string>
#include <utility>

#include "worker/compute/cuda/kernels/pooling.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

// What every pooling reads and writes.
class Pooling : public Operation {
 public:
  Pooling(const Context& context, const LayerTask& task, const PoolShape& shape, const CudaTensor& y)
      : context_(context),
        what_(name_of(task.layer) + " of " + to_string(task.inputs[0]->shape()) + " to " + to_string(y.shape())),
        shape_(shape),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()) {}

  void forward() override { check(pool(shape_, x_, y_, context_.compute()), what_, "forward"); }
  void backward_input() override {
    check(unpool(shape_, y_gradient_, x_gradient_, context_.compute()), what_, "backward");
  }

 protected:
  virtual cudaError_t pool(const PoolShape& shape, const float* x, float* y, cudaStream_t stream) = 0;
  virtual cudaError_t unpool(const PoolShape& shape, const float* y_gradient, float* x_gradient,
                             cudaStream_t stream) = 0;

 private:
  const Context& context_;
  std::string what_;
  PoolShape shape_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
};

class MaxPooling : public Pooling {
 public:
  MaxPooling(const Context& context, const LayerTask& task, const PoolShape& shape, const CudaTensor& y)
      : Pooling(context, task, shape, y), winners_(y.shape().elements(), name_of(task.layer)) {}

 private:
  cudaError_t pool(const PoolShape& shape, const float* x, float* y, cudaStream_t stream) override {
    return launch_max_pool(shape, x, y, winners_.data(), stream);
  }
  cudaError_t unpool(const PoolShape& shape, const float* y_gradient, float* x_gradient, cudaStream_t stream) override {
    return launch_max_pool_backward(shape, y_gradient, winners_.data(), x_gradient, stream);
  }

  DeviceBuffer<std::int32_t> winners_;
};

class AveragePooling : public Pooling {
 public:
  using Pooling::Pooling;

 private:
  cudaError_t pool(const PoolShape& shape, const float* x, float* y, cudaStream_t stream) override {
    return launch_average_pool(shape, x, y, stream);
  }
  cudaError_t unpool(const PoolShape& shape, const float* y_gradient, float* x_gradient, cudaStream_t stream) override {
    return launch_average_pool_backward(shape, y_gradient, x_gradient, stream);
  }
};

// `describe_windows` sets what does not follow from shapes.
template <typename Made, typename DescribeWindows>
Prepared make_pooling(Context& context, const LayerTask& task, const DescribeWindows& describe_windows) {
  const Shape to = fit(task);
  const CudaTensor& x = as_cuda(*task.inputs[0]);
  PoolShape shape{
      .planes = to.rows() * to.c, .x_height = x.shape().h, .x_width = x.shape().w, .y_height = to.h, .y_width = to.w};
  describe_windows(shape);
  auto y = std::make_unique<CudaTensor>(to, x.with_gradient());
  auto operation = std::make_unique<Made>(context, task, shape, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace

Prepared make(Context& context, const LayerTask& task, const MaxPool2d& pool) {
  return make_pooling<MaxPooling>(context, task, [&](PoolShape& shape) {
    shape.window = pool.window;
    shape.stride = pool.stride;
    shape.padding = pool.padding;
  });
}

Prepared make(Context& context, const LayerTask& task, const AveragePool2d& pool) {
  return make_pooling<AveragePooling>(context, task, [&](PoolShape& shape) {
    shape.window = pool.window;
    shape.stride = pool.stride;
    shape.padding = pool.padding;
    shape.count_padding = pool.count_padding;
  });
}

// One window for each plane.
Prepared make(Context& context, const LayerTask& task, const GlobalPool2d& pool) {
  const auto whole = [](PoolShape& shape) { shape.window = {shape.x_height, shape.x_width}; };
  return pool.kind == GlobalPool2d::Kind::max ? make_pooling<MaxPooling>(context, task, whole)
                                              : make_pooling<AveragePooling>(context, task, whole);
}

}  // namespace ballast::cuda
