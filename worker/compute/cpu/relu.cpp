// ReLU in place, whatever the layout: its derivative follows from its result, and nobody else reads its input. Padding
// of blocked layouts is zero and stays so.
#include <utility>

#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace ballast::cpu {
namespace {

class ReluOperation : public Operation {
 public:
  ReluOperation(const Context& context, const CpuTensor& x)
      : context_(context),
        value_(x.value()),
        gradient_(x.gradient()),
        n_(value_.get_desc().get_size() / sizeof(float)) {}

  void forward() override {
    auto* value = static_cast<float*>(value_.get_data_handle());
    relu_loop(value, value, n_, context_.threads);
  }

  void backward_input() override {
    auto* gradient = static_cast<float*>(gradient_.get_data_handle());
    relu_backward_loop(static_cast<const float*>(value_.get_data_handle()), gradient, gradient, n_, context_.threads);
  }

 private:
  const Context& context_;
  dnnl::memory value_;
  dnnl::memory gradient_;
  std::size_t n_;  // floats in memory, padding included
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Activation& activation) {
  if (activation.kind != Activation::Kind::relu || !task.in_place) {
    throw std::invalid_argument("the cpu backend has no " + name_of(task.layer));
  }
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  return {std::make_unique<ReluOperation>(context, x), std::make_unique<CpuTensor>(x, std::in_place)};
}

}  // namespace ballast::cpu
