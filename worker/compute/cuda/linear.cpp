// A fully connected layer by cuBLAS, which takes every matrix for its transpose: it counts down columns, we along rows.
#include <string>
#include <utility>

#include "worker/compute/cuda/bias.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

constexpr float kOne = 1.0F;
constexpr float kZero = 0.0F;

class LinearOperation : public Operation {
 public:
  LinearOperation(const Context& context, const CudaTensor& x, const CudaTensor& y, const Extent& weights,
                  const Extent& bias)
      : context_(context),
        what_("linear of " + to_string(x.shape()) + " to " + to_string(y.shape())),
        weights_extent_(weights),
        x_(x.value()),
        x_gradient_(x.gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        examples_(static_cast<int>(x.shape().n)),
        features_(static_cast<int>(x.shape().features())),
        units_(static_cast<int>(y.shape().c)),
        bias_(context, y.shape(), bias, what_) {}

  // y = x W^T, so y^T = W x^T.
  void forward() override {
    check(cublasSgemm(context_.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, units_, examples_, features_, &kOne,
                      context_.weights_at(weights_extent_), features_, x_, features_, &kZero, y_, units_),
          what_, "forward");
    bias_.add_to(y_, what_);
  }

  // dW = dy^T x, so dW^T = x^T dy.
  void backward_parameters() override {
    bias_.backward(y_gradient_, what_);
    check(cublasSgemm(context_.cublas(), CUBLAS_OP_N, CUBLAS_OP_T, features_, units_, examples_, &kOne, x_, features_,
                      y_gradient_, units_, &kZero, context_.gradients_at(weights_extent_), features_),
          what_, "gradient of the weights");
  }

  // dx = dy W, so dx^T = W^T dy^T.
  void backward_input() override {
    check(cublasSgemm(context_.cublas(), CUBLAS_OP_N, CUBLAS_OP_N, features_, examples_, units_, &kOne,
                      context_.weights_at(weights_extent_), features_, y_gradient_, units_, &kZero, x_gradient_,
                      features_),
          what_, "gradient of the input");
  }

 private:
  const Context& context_;
  std::string what_;
  Extent weights_extent_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  int examples_;
  int features_;
  int units_;
  Bias bias_;
};

}  // namespace

Prepared make_linear(Context& context, CudaTensor& x, std::uint32_t units, const Extent& weights, const Extent& bias) {
  auto y = std::make_unique<CudaTensor>(fit_linear(x.shape(), units, weights, bias), true);
  auto operation = std::make_unique<LinearOperation>(context, x, *y, weights, bias);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
