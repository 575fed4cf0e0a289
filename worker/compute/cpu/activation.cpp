// Activations on the memory of their input as it lies, whatever the layout. In place where the derivative follows from
// the result and nobody else reads the input.
#include <utility>

#include "worker/compute/cpu/activation_loops.h"
#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

class ActivationOperation : public Operation {
 public:
  ActivationOperation(const Context& context, const Activation& activation, const CpuTensor& x, const CpuTensor& y)
      : context_(context),
        activation_(activation),
        x_(context, x.value(), y.value().get_desc()),
        y_(y.value()),
        y_gradient_(y.gradient()) {
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), y.value().get_desc());
    }
  }

  void forward() override {
    x_.refresh();
    activate(activation_, floats(x_.memory()), floats(y_), floats_in(y_), context_.threads);
  }

  void backward_input() override {
    const auto& known = follows_from_result(activation_) ? y_ : x_.memory();
    activate_backward(activation_, floats(known), floats(y_gradient_), floats(x_gradient_.memory()), floats_in(y_),
                      context_.threads);
    x_gradient_.deliver();
  }

 private:
  const Context& context_;
  Activation activation_;
  Incoming x_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  Outgoing x_gradient_;
};

// Padding of blocked layouts must stay zero; a sigmoid would make it 0.5.
bool keeps_padding(const Activation& activation, const CpuTensor& x) {
  return activation.kind != Activation::Kind::sigmoid || floats_in(x.value()) == x.shape().elements();
}

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Activation& activation) {
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const Shape to = fit(task);
  const bool as_it_lies = keeps_padding(activation, x);
  auto y =
      task.in_place && as_it_lies && follows_from_result(activation)
          ? std::make_unique<CpuTensor>(x, std::in_place)
          : std::make_unique<CpuTensor>(context, to, as_it_lies ? x.value().get_desc() : plain(to), x.with_gradient());
  auto operation = std::make_unique<ActivationOperation>(context, activation, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
