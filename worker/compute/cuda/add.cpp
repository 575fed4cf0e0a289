// The sum of tensors: in the memory of the first where that is allowed, value and gradient. The gradient of every other
// input is a copy: whoever made that input may spoil it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "worker/compute/cuda/kernels/elementwise.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class AddOperation : public Operation {
 public:
  AddOperation(const Context& context, std::span<Tensor* const> inputs, const CudaTensor& y)
      : context_(context),
        what_("add of " + to_string(y.shape())),
        n_(y.shape().elements()),
        y_(y.value()),
        y_gradient_(y.gradient()) {
    for (const Tensor* input : inputs) {
      const CudaTensor& x = as_cuda(*input);
      inputs_.push_back(x.value());
      if (x.with_gradient() && x.gradient() != y_gradient_) {
        gradients_.push_back(x.gradient());
      }
    }
  }

  void forward() override {
    add(inputs_[0], inputs_[1]);
    for (std::size_t i = 2; i < inputs_.size(); ++i) {
      add(y_, inputs_[i]);
    }
  }
  void backward_input() override {
    for (float* const gradient : gradients_) {
      check(launch_copy(y_gradient_, gradient, n_, context_.compute()), what_, "backward");
    }
  }

 private:
  void add(const float* a, const float* b) const {
    check(launch_add(a, b, y_, n_, context_.compute()), what_, "forward");
  }

  const Context& context_;
  std::string what_;
  std::size_t n_;
  std::vector<const float*> inputs_;
  std::vector<float*> gradients_;  // copies of y's
  float* y_;
  const float* y_gradient_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Add& /*add*/) {
  const Shape to = fit(task);
  const CudaTensor& first = as_cuda(*task.inputs[0]);
  const bool with_gradient =
      std::ranges::any_of(task.inputs, [](const Tensor* input) { return input->with_gradient(); });
  auto y = task.in_place && first.with_gradient() == with_gradient ? std::make_unique<CudaTensor>(first, std::in_place)
                                                                   : std::make_unique<CudaTensor>(to, with_gradient);
  auto operation = std::make_unique<AddOperation>(context, task.inputs, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
