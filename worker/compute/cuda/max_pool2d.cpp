#include <string>
#include <utility>

#include "worker/compute/cuda/kernels.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class MaxPool2dOperation : public Operation {
 public:
  MaxPool2dOperation(const Context& context, const CudaTensor& x, const CudaTensor& y, const MaxPool2d& pool)
      : context_(context),
        what_("max_pool2d of " + to_string(x.shape()) + " to " + to_string(y.shape())),
        shape_{x.shape().rows() * x.shape().c,
               x.shape().h,
               x.shape().w,
               y.shape().h,
               y.shape().w,
               pool.window.h,
               pool.stride.h},
        x_(x.value()),
        x_gradient_(x.gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        winners_(y.shape().elements(), what_) {}

  void forward() override {
    check(launch_max_pool(shape_, x_, y_, winners_.data(), context_.compute()), what_, "forward");
  }
  void backward_input() override {
    check(launch_max_pool_backward(shape_, y_gradient_, winners_.data(), x_gradient_, context_.compute()), what_,
          "backward");
  }

 private:
  const Context& context_;
  std::string what_;
  PoolShape shape_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  DeviceBuffer<std::int32_t> winners_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const MaxPool2d& pool) {
  if (pool.window.h != pool.window.w || pool.stride.h != pool.stride.w || pool.padding != Pair(0)) {
    throw std::invalid_argument("the cuda backend has no pooling with padding or unequal sides");
  }
  CudaTensor& x = as_cuda(*task.inputs[0]);
  const Shape to = fit(task);
  auto y = std::make_unique<CudaTensor>(to, x.with_gradient());
  auto operation = std::make_unique<MaxPool2dOperation>(context, x, *y, pool);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
