// The sum of tensors, in the layout of the first: in its memory where that is allowed, value and gradient.
//
// The gradient of every other input is a copy: whoever made that input may spoil it.
#include <algorithm>
#include <utility>
#include <vector>

#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

class AddOperation : public Operation {
 public:
  AddOperation(const Context& context, std::span<Tensor* const> inputs, const CpuTensor& y)
      : context_(context), y_(y.value()) {
    for (const Tensor* input : inputs) {
      const CpuTensor& x = as_cpu(*input);
      inputs_.emplace_back(context, x.value(), y_.get_desc());
      if (x.with_gradient() && x.gradient() != y.gradient()) {
        gradients_.push_back(make_reorder(context, y.gradient(), x.gradient()));
      }
    }
  }

  void forward() override {
    for (const Incoming& input : inputs_) {
      input.refresh();
    }
    const std::size_t n = floats_in(y_);
    float* const sum = floats(y_);
    add_loop(floats(inputs_[0].memory()), floats(inputs_[1].memory()), sum, n, context_.threads);
    for (std::size_t i = 2; i < inputs_.size(); ++i) {
      add_loop(sum, floats(inputs_[i].memory()), sum, n, context_.threads);
    }
  }

  void backward_input() override {
    for (const Primitive& copy : gradients_) {
      copy.run();
    }
  }

 private:
  const Context& context_;
  std::vector<Incoming> inputs_;
  dnnl::memory y_;
  std::vector<Primitive> gradients_;  // copies of y's
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Add& /*add*/) {
  const Shape to = fit(task);
  const CpuTensor& first = as_cpu(*task.inputs[0]);
  const bool with_gradient =
      std::ranges::any_of(task.inputs, [](const Tensor* input) { return input->with_gradient(); });
  auto y = task.in_place && first.with_gradient() == with_gradient
               ? std::make_unique<CpuTensor>(first, std::in_place)
               : std::make_unique<CpuTensor>(context, to, first.value().get_desc(), with_gradient);
  auto operation = std::make_unique<AddOperation>(context, task.inputs, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
