// Scaled dot-product attention: products by cuBLAS, for all heads of an example at once; float32 factors with bfloat16
// as well. cuBLAS takes every matrix for its transpose: it counts down columns, we along rows.
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "worker/compute/cuda/kernels/attention.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/cuda/upload.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

enum Input : std::size_t { kQueries, kKeys, kValues, kInputs };

// Of one example: what a head has, and how far it is to the next one.
struct Heads {
  const float* values;
  cublasOperation_t as;
  std::size_t stride;  // from one step to the next
  std::size_t apart;   // from one head to the next
};

struct Result {
  float* values;
  std::size_t stride;
  std::size_t apart;
};

// More than 15 fields: three inputs, their gradients, and what describes them.
class AttentionOperation : public Operation {
 public:
  AttentionOperation(Context& context, const LayerTask& task, const Attention& attention, const CudaTensor& y)
      : context_(context),
        what_("attention of " + to_string(y.shape())),
        shape_{y.shape().n, attention.heads, y.shape().steps, attention.causal},
        stride_(y.shape().c),
        channels_(stride_ / attention.heads),
        scale_(1.0F / std::sqrt(static_cast<float>(channels_))),
        y_(y.value()),
        y_gradient_(y.gradient()),
        lengths_(y.shape(), what_),
        weights_(shape_.examples * example_scores(), what_) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      inputs_[i] = as_cuda(*task.inputs[i]).value();
      gradients_[i] = as_cuda(*task.inputs[i]).gradient();
    }
    context_.reserve_workspace(weights_.bytes(), what_);
  }

  void forward() override {
    lengths_.send(context_, what_);
    for (std::size_t n = 0; n < shape_.examples; ++n) {
      multiply(of_input(kKeys, n, CUBLAS_OP_T), of_input(kQueries, n, CUBLAS_OP_N), {steps(), steps(), channels()},
               scale_, to_scores(weights_.data(), n));
    }
    check(launch_attention_weights(shape_, lengths_.data(), weights_.data(), context_.compute()), what_, "softmax");
    for (std::size_t n = 0; n < shape_.examples; ++n) {
      multiply(of_input(kValues, n, CUBLAS_OP_N), of_scores(weights_.data(), n, CUBLAS_OP_N),
               {channels(), steps(), length(n)}, 1.0F, to_steps(y_, n));
    }
  }

  void backward_input() override {
    for (std::size_t n = 0; n < shape_.examples; ++n) {
      multiply(of_input(kValues, n, CUBLAS_OP_T), of_steps(y_gradient_, n, CUBLAS_OP_N), {steps(), steps(), channels()},
               1.0F, to_scores(between(), n));
    }
    check(launch_attention_weights_backward(shape_, lengths_.data(), weights_.data(), scale_, between(),
                                            context_.compute()),
          what_, "softmax backward");
    for (std::size_t n = 0; n < shape_.examples; ++n) {
      go_back(n);
    }
  }

 private:
  // Of the product: rows and columns as cuBLAS has them, and of how many products each is the sum.
  struct Extents {
    int rows;
    int columns;
    int summands;
  };

  // Weights are 0 where a step is no key: so are its gradients.
  void go_back(std::size_t n) const {
    if (gradients_[kValues] != nullptr) {
      multiply(of_steps(y_gradient_, n, CUBLAS_OP_N), of_scores(weights_.data(), n, CUBLAS_OP_T),
               {channels(), steps(), steps()}, 1.0F, to_steps(gradients_[kValues], n));
    }
    if (gradients_[kQueries] != nullptr) {
      multiply(of_input(kKeys, n, CUBLAS_OP_N), of_scores(between(), n, CUBLAS_OP_N), {channels(), steps(), length(n)},
               1.0F, to_steps(gradients_[kQueries], n));
    }
    if (gradients_[kKeys] != nullptr) {
      multiply(of_input(kQueries, n, CUBLAS_OP_N), of_scores(between(), n, CUBLAS_OP_T), {channels(), steps(), steps()},
               1.0F, to_steps(gradients_[kKeys], n));
    }
  }

  void multiply(const Heads& a, const Heads& b, const Extents& of, float scale, const Result& result) const {
    check(cublasSgemmStridedBatched(context_.cublas(), a.as, b.as, of.rows, of.columns, of.summands, &scale, a.values,
                                    static_cast<int>(a.stride), static_cast<long long>(a.apart), b.values,
                                    static_cast<int>(b.stride), static_cast<long long>(b.apart), &kZero, result.values,
                                    static_cast<int>(result.stride), static_cast<long long>(result.apart),
                                    static_cast<int>(shape_.heads)),
          what_, "product");
  }

  [[nodiscard]] Heads of_steps(const float* values, std::size_t n, cublasOperation_t as) const {
    return {values + n * shape_.steps * stride_, as, stride_, channels_};
  }
  [[nodiscard]] Heads of_input(Input which, std::size_t n, cublasOperation_t as) const {
    return of_steps(inputs_[which], n, as);
  }
  [[nodiscard]] Heads of_scores(const float* scores, std::size_t n, cublasOperation_t as) const {
    return {scores + n * example_scores(), as, shape_.steps, head_scores()};
  }

  [[nodiscard]] Result to_steps(float* values, std::size_t n) const {
    return {values + n * shape_.steps * stride_, stride_, channels_};
  }
  [[nodiscard]] Result to_scores(float* scores, std::size_t n) const {
    return {scores + n * example_scores(), shape_.steps, head_scores()};
  }

  [[nodiscard]] std::size_t head_scores() const { return shape_.steps * shape_.steps; }
  [[nodiscard]] std::size_t example_scores() const { return shape_.heads * head_scores(); }
  [[nodiscard]] int steps() const { return static_cast<int>(shape_.steps); }
  [[nodiscard]] int channels() const { return static_cast<int>(channels_); }
  [[nodiscard]] int length(std::size_t n) const { return static_cast<int>(lengths_.sent()[n]); }
  [[nodiscard]] float* between() const { return static_cast<float*>(context_.workspace()); }

  Context& context_;
  std::string what_;
  AttentionShape shape_;
  std::size_t stride_;    // of steps: channels of all heads
  std::size_t channels_;  // of a head
  float scale_;
  std::array<const float*, kInputs> inputs_ = {};
  std::array<float*, kInputs> gradients_ = {};
  float* y_;
  const float* y_gradient_;
  Lengths lengths_;
  DeviceBuffer<float> weights_;  // examples x heads x queries x keys
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Attention& attention) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<AttentionOperation>(context, task, attention, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
