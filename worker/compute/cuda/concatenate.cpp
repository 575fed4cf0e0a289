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

class ConcatenateOperation : public Operation {
 public:
  ConcatenateOperation(const Context& context, std::span<Tensor* const> inputs, const CudaTensor& y)
      : context_(context),
        what_("concatenate to " + to_string(y.shape())),
        rows_(y.shape().rows()),
        features_(y.shape().features()),
        y_(y.value()),
        y_gradient_(y.gradient()) {
    std::size_t at = 0;
    for (const Tensor* input : inputs) {
      const CudaTensor& x = as_cuda(*input);
      parts_.push_back({x.value(), x.gradient(), x.shape().features(), at});
      at += x.shape().features();
    }
  }

  void forward() override {
    for (const Part& part : parts_) {
      check(launch_copy_rows({rows_, part.features, part.features, features_}, part.value, y_ + part.at,
                             context_.compute()),
            what_, "forward");
    }
  }
  void backward_input() override {
    for (const Part& part : parts_) {
      if (part.gradient != nullptr) {
        check(launch_copy_rows({rows_, part.features, features_, part.features}, y_gradient_ + part.at, part.gradient,
                               context_.compute()),
              what_, "backward");
      }
    }
  }

 private:
  struct Part {
    const float* value;
    float* gradient;
    std::size_t features;
    std::size_t at;  // in a row of y
  };

  const Context& context_;
  std::string what_;
  std::size_t rows_;
  std::size_t features_;
  std::vector<Part> parts_;
  float* y_;
  const float* y_gradient_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Concatenate& /*concatenate*/) {
  const Shape to = fit(task);
  const bool with_gradient =
      std::ranges::any_of(task.inputs, [](const Tensor* input) { return input->with_gradient(); });
  auto y = std::make_unique<CudaTensor>(to, with_gradient);
  auto operation = std::make_unique<ConcatenateOperation>(context, task.inputs, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
