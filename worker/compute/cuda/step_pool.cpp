// Pooling over the steps of each example's own length.
#include <string>
#include <utility>

#include "worker/compute/cuda/kernels/pooling.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/cuda/upload.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class StepPoolOperation : public Operation {
 public:
  StepPoolOperation(Context& context, const StepPool& pool, const CudaTensor& x, const CudaTensor& y)
      : context_(context),
        what_("step_pool of " + to_string(x.shape())),
        kind_(pool.kind),
        shape_{x.shape().n, x.shape().steps, x.shape().features()},
        lengths_(x.shape(), what_),
        x_(x.value()),
        x_gradient_(x.gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        winners_(kind_ == StepPool::Kind::max ? y.shape().elements() : 1, what_) {}

  void forward() override {
    lengths_.send(context_, what_);
    check(launch_step_pool(kind_, shape_, lengths_.data(), x_, y_, winners_.data(), context_.compute()), what_,
          "forward");
  }
  void backward_input() override {
    check(launch_step_pool_backward(kind_, shape_, lengths_.data(), y_gradient_, winners_.data(), x_gradient_,
                                    context_.compute()),
          what_, "backward");
  }

 private:
  Context& context_;
  std::string what_;
  StepPool::Kind kind_;
  StepPoolShape shape_;
  Lengths lengths_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  DeviceBuffer<std::int32_t> winners_;  // of a max: the step of each value
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const StepPool& pool) {
  const Shape to = fit(task);
  const CudaTensor& x = as_cuda(*task.inputs[0]);
  auto y = std::make_unique<CudaTensor>(to, x.with_gradient());
  auto operation = std::make_unique<StepPoolOperation>(context, pool, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
