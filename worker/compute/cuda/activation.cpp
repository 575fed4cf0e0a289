// Activations: in place where the derivative follows from the result and nobody else reads the input.
#include <string>
#include <utility>

#include "worker/compute/cuda/kernels/elementwise.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class ActivationOperation : public Operation {
 public:
  ActivationOperation(const Context& context, const LayerTask& task, const Activation& activation, const CudaTensor& y)
      : context_(context),
        what_(name_of(task.layer) + " of " + to_string(y.shape())),
        activation_(activation),
        n_(y.shape().elements()),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()) {}

  void forward() override { check(launch_activation(activation_, x_, y_, n_, context_.compute()), what_, "forward"); }
  void backward_input() override {
    check(launch_activation_backward(activation_, follows_from_result(activation_) ? y_ : x_, y_gradient_, x_gradient_,
                                     n_, context_.compute()),
          what_, "backward");
  }

 private:
  const Context& context_;
  std::string what_;
  Activation activation_;
  std::size_t n_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Activation& activation) {
  const Shape to = fit(task);
  const CudaTensor& x = as_cuda(*task.inputs[0]);
  auto y = task.in_place && follows_from_result(activation) ? std::make_unique<CudaTensor>(x, std::in_place)
                                                            : std::make_unique<CudaTensor>(to, x.with_gradient());
  auto operation = std::make_unique<ActivationOperation>(context, task, activation, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
