// The same values in another shape: another name for them where nobody else reads them, otherwise a copy.
#include <string>
#include <utility>

#include "worker/compute/cuda/kernels/elementwise.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class ReshapeOperation : public Operation {
 public:
  ReshapeOperation(const Context& context, const CudaTensor& x, const CudaTensor& y)
      : context_(context),
        what_("reshape of " + to_string(x.shape()) + " to " + to_string(y.shape())),
        n_(x.shape().elements()),
        x_(x.value()),
        x_gradient_(x.gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()) {}

  void forward() override {
    if (x_ != y_) {
      check(launch_copy(x_, y_, n_, context_.compute()), what_, "forward");
    }
  }
  void backward_input() override {
    if (x_gradient_ != y_gradient_) {
      check(launch_copy(y_gradient_, x_gradient_, n_, context_.compute()), what_, "backward");
    }
  }

 private:
  const Context& context_;
  std::string what_;
  std::size_t n_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Reshape& /*reshape*/) {
  const Shape to = fit(task);
  const CudaTensor& x = as_cuda(*task.inputs[0]);
  auto y = task.in_place ? std::make_unique<CudaTensor>(to, x) : std::make_unique<CudaTensor>(to, x.with_gradient());
  auto operation = std::make_unique<ReshapeOperation>(context, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
