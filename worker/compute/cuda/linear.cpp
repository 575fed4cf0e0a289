// A fully connected layer of each row by cuBLAS, which takes every matrix for its transpose: it counts down columns, we
// along rows. Results are float32 whatever factors are rounded to.
#include <string>
#include <utility>

#include "worker/compute/cuda/bias.h"
#include "worker/compute/cuda/factor.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

// A matrix as cuBLAS is to see it: its values, or their transpose, with so many of them from one column to the next.
struct Matrix {
  const void* values;
  cublasOperation_t as;
  int stride;
};

class LinearOperation : public Operation {
 public:
  LinearOperation(Context& context, const CudaTensor& x, const CudaTensor& y, const ParameterPlace& weights,
                  const ParameterPlace* bias)
      : context_(context),
        what_("linear of " + to_string(x.shape()) + " to " + to_string(y.shape())),
        weights_extent_(weights.extent),
        adds_(weights.adds),
        x_(x.value()),
        x_gradient_(x.gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        rows_(static_cast<int>(x.shape().rows())),
        features_(static_cast<int>(x.shape().features())),
        units_(static_cast<int>(y.shape().c)),
        x_factor_(context, Context::Part::x, x.shape().elements(), what_),
        weights_factor_(context, Context::Part::weights, weights.extent.elements, what_),
        y_factor_(context, Context::Part::y, y.shape().elements(), what_),
        bias_(context, y.shape(), bias, what_) {}

  // y = x W^T, so y^T = W x^T.
  void forward() override {
    multiply({weights(), CUBLAS_OP_T, features_}, {x_factor_.rounded(x_, what_), CUBLAS_OP_N, features_},
             {units_, rows_, features_}, y_, kZero, "forward");
    bias_.add_to(y_, what_);
  }

  // dW = dy^T x, so dW^T = x^T dy.
  void backward_parameters() override {
    bias_.backward(y_gradient_, what_);
    multiply({x_factor_.rounded(x_, what_), CUBLAS_OP_N, features_}, {y_gradient(), CUBLAS_OP_T, units_},
             {features_, units_, rows_}, context_.gradients_at(weights_extent_), adds_ ? kOne : kZero,
             "gradient of the weights");
  }

  // dx = dy W, so dx^T = W^T dy^T.
  void backward_input() override {
    multiply({weights(), CUBLAS_OP_N, features_}, {y_gradient(), CUBLAS_OP_N, units_}, {features_, rows_, units_},
             x_gradient_, kZero, "gradient of the input");
  }

 private:
  // Of the product, rows x columns, of sums of so many products each.
  struct Extents {
    int rows;
    int columns;
    int summands;
  };

  [[nodiscard]] const void* weights() const {
    return weights_factor_.rounded(context_.weights_at(weights_extent_), what_);
  }
  [[nodiscard]] const void* y_gradient() const { return y_factor_.rounded(y_gradient_, what_); }

  // c = a b + kept * c
  void multiply(const Matrix& a, const Matrix& b, const Extents& of, float* c, float kept,
                std::string_view part) const {
    if (context_.precision() == Precision::bfloat16) {
      check(cublasGemmEx(context_.cublas(), a.as, b.as, of.rows, of.columns, of.summands, &kOne, a.values, CUDA_R_16BF,
                         a.stride, b.values, CUDA_R_16BF, b.stride, &kept, c, CUDA_R_32F, of.rows, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT),
            what_, part);
    } else {
      check(cublasSgemm(context_.cublas(), a.as, b.as, of.rows, of.columns, of.summands, &kOne,
                        static_cast<const float*>(a.values), a.stride, static_cast<const float*>(b.values), b.stride,
                        &kept, c, of.rows),
            what_, part);
    }
  }

  const Context& context_;
  std::string what_;
  Extent weights_extent_;
  bool adds_;  // to the gradient of the weights
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  int rows_;
  int features_;
  int units_;
  Factor x_factor_;
  Factor weights_factor_;
  Factor y_factor_;
  Bias bias_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Linear& linear) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<LinearOperation>(context, as_cuda(*task.inputs[0]), *y, task.parameters[0],
                                                     linear.bias ? &task.parameters[1] : nullptr);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
