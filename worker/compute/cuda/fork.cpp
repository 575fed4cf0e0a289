// One value under several names, each with a gradient of its own; these are summed in the order of the names.
#include <string>
#include <utility>
#include <vector>

#include "worker/compute/cuda/kernels/elementwise.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

class ForkOperation : public Operation {
 public:
  ForkOperation(const Context& context, const CudaTensor& x, std::span<const std::unique_ptr<Tensor>> outputs)
      : context_(context),
        what_("the gradients of " + to_string(x.shape())),
        n_(x.shape().elements()),
        sum_(x.gradient()) {
    for (const auto& output : outputs) {
      parts_.push_back(as_cuda(*output).gradient());
    }
  }

  void forward() override {}
  void backward_input() override {
    add(parts_[0], parts_[1]);
    for (std::size_t i = 2; i < parts_.size(); ++i) {
      add(sum_, parts_[i]);
    }
  }

 private:
  void add(const float* a, const float* b) const { check(launch_add(a, b, sum_, n_, context_.compute()), what_); }

  const Context& context_;
  std::string what_;
  std::size_t n_;
  float* sum_;
  std::vector<const float*> parts_;
};

}  // namespace

Forked make_fork(Context& context, CudaTensor& x, std::size_t uses) {
  Forked forked;
  for (std::size_t i = 0; i < uses; ++i) {
    forked.outputs.push_back(std::make_unique<CudaTensor>(x, OwnGradient()));
  }
  forked.operation = std::make_unique<ForkOperation>(context, x, forked.outputs);
  return forked;
}

}  // namespace ballast::cuda
