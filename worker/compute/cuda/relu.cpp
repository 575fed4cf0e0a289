// ReLU in place: its derivative follows from its result, and nobody else reads its input.
#include <string>
#include <utility>

#include "worker/compute/cuda/kernels.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

class ReluOperation : public Operation {
 public:
  ReluOperation(const Context& context, const CudaTensor& x)
      : context_(context),
        what_("relu of " + to_string(x.shape())),
        value_(x.value()),
        gradient_(x.gradient()),
        n_(x.shape().elements()) {}

  void forward() override { check(launch_relu(value_, value_, n_, context_.compute()), what_, "forward"); }
  void backward_input() override {
    check(launch_relu_backward(value_, gradient_, gradient_, n_, context_.compute()), what_, "backward");
  }

 private:
  const Context& context_;
  std::string what_;
  float* value_;
  float* gradient_;
  std::size_t n_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Activation& activation) {
  if (activation.kind != Activation::Kind::relu || !task.in_place) {
    throw std::invalid_argument("the cuda backend has no " + name_of(task.layer));
  }
  CudaTensor& x = as_cuda(*task.inputs[0]);
  return {std::make_unique<ReluOperation>(context, x), std::make_unique<CudaTensor>(x, std::in_place)};
}

}  // namespace ballast::cuda
