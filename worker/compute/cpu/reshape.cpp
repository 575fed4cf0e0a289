// The same values in another shape: another name for them if they lie plainly and nobody else reads them, otherwise a
// plain copy.
#include <optional>
#include <utility>

#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

// The memory of a plain tensor as one of `shape`, which has as many values; empty if it is empty.
dnnl::memory reshaped(const Context& context, const dnnl::memory& memory, const Shape& shape) {
  return memory ? dnnl::memory(plain(shape), context.engine, memory.get_data_handle()) : memory;
}

class ReshapeOperation : public Operation {
 public:
  ReshapeOperation() = default;
  ReshapeOperation(const Context& context, const CpuTensor& x, const CpuTensor& y)
      : value_(make_reorder(context, x.value(), reshaped(context, y.value(), x.shape()))) {
    if (x.with_gradient()) {
      gradient_ = make_reorder(context, reshaped(context, y.gradient(), x.shape()), x.gradient());
    }
  }

  void forward() override {
    if (value_) {
      value_->run();
    }
  }
  void backward_input() override {
    if (gradient_) {
      gradient_->run();
    }
  }

 private:
  // Copies; none of what only has another name.
  std::optional<Primitive> value_;
  std::optional<Primitive> gradient_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Reshape& /*reshape*/) {
  const Shape to = fit(task);
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  if (task.in_place && x.value().get_desc() == plain(x.shape())) {
    return {std::make_unique<ReshapeOperation>(),
            std::make_unique<CpuTensor>(to, reshaped(context, x.value(), to), reshaped(context, x.gradient(), to))};
  }
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), x.with_gradient());
  auto operation = std::make_unique<ReshapeOperation>(context, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
