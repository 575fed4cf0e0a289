// Dropout by the rule of worker/compute/pass.h. What was dropped is drawn anew in the backward pass rather than kept.
#include <string>
#include <utility>

#include "worker/compute/cuda/kernels/elementwise.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class DropoutOperation : public Operation {
 public:
  DropoutOperation(const Context& context, const LayerTask& task, const Dropout& dropout, const CudaTensor& y)
      : context_(context),
        what_("dropout of " + to_string(y.shape())),
        number_(task.number),
        draws_{.rate = dropout.rate},
        n_(y.shape().elements()),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()) {}

  void forward() override {
    const Pass& pass = context_.pass();
    if (pass.training) {
      draws_.stream = dropout_stream(pass);
      draws_.first_draw = first_dropout_draw(pass, number_);
      check(launch_dropout(draws_, x_, y_, n_, context_.compute()), what_, "forward");
    } else if (x_ != y_) {
      check(launch_copy(x_, y_, n_, context_.compute()), what_, "forward");
    }
  }
  void backward_input() override {
    check(launch_dropout(draws_, y_gradient_, x_gradient_, n_, context_.compute()), what_, "backward");
  }

 private:
  const Context& context_;
  std::string what_;
  std::uint32_t number_;
  DropoutDraws draws_;  // of the last forward pass in training
  std::size_t n_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Dropout& dropout) {
  const Shape to = fit(task);
  const CudaTensor& x = as_cuda(*task.inputs[0]);
  auto y = task.in_place ? std::make_unique<CudaTensor>(x, std::in_place)
                         : std::make_unique<CudaTensor>(to, x.with_gradient());
  auto operation = std::make_unique<DropoutOperation>(context, task, dropout, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
