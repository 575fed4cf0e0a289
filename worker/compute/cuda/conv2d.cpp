// Convolution by cuDNN, with algorithms that are fixed: deterministic ones, which compute the products as they are
// defined. cuDNN's own choice by measured time would differ from run to run, and Winograd and FFT round otherwise than
// direct convolution, by which a run can be compared with those of other frameworks and of the cpu.
//
// With bfloat16, x, weights and y are all of that type: that is how cuDNN has it. Its sums are float32 and are rounded
// once, at the end.
#include <algorithm>
#include <string>
#include <utility>

#include "worker/compute/cuda/bias.h"
#include "worker/compute/cuda/factor.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

constexpr auto kForward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
constexpr auto kBackwardWeights = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;  // 0 and 3 add atomically
constexpr auto kBackwardInput = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;      // 0 adds atomically

constexpr float kOne = 1.0F;
constexpr float kZero = 0.0F;

// Of scratch memory, what each pass asks for. It gets that and no more: with more an algorithm might take another way,
// and how much there is depends on what else was prepared.
struct Workspaces {
  std::size_t forward = 0;
  std::size_t weights = 0;
  std::size_t input = 0;
};

FilterDescriptor describe_weights(const Shape& x, const Conv2d& conv, cudnnDataType_t type, std::string_view what) {
  cudnnFilterDescriptor_t made = nullptr;
  check(cudnnCreateFilterDescriptor(&made), what, "preparing");
  FilterDescriptor descriptor(made);
  check(
      cudnnSetFilter4dDescriptor(made, type, CUDNN_TENSOR_NCHW, static_cast<int>(conv.channels), static_cast<int>(x.c),
                                 static_cast<int>(conv.kernel.h), static_cast<int>(conv.kernel.w)),
      what, "preparing");
  return descriptor;
}

// cuDNN's default is TF32 where the device has it. Factors in bfloat16 want tensor cores named.
cudnnMathType_t math_of(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return CUDNN_DEFAULT_MATH;
    case Precision::bfloat16:
      return CUDNN_TENSOR_OP_MATH;
    default:
      return CUDNN_FMA_MATH;
  }
}

// Sums are float32 whatever the type of the factors.
ConvolutionDescriptor describe_convolution(const Conv2d& conv, Precision precision, std::string_view what) {
  cudnnConvolutionDescriptor_t made = nullptr;
  check(cudnnCreateConvolutionDescriptor(&made), what, "preparing");
  ConvolutionDescriptor descriptor(made);
  const auto of = [](std::uint32_t extent) { return static_cast<int>(extent); };
  check(cudnnSetConvolution2dDescriptor(made, of(conv.padding.h), of(conv.padding.w), of(conv.stride.h),
                                        of(conv.stride.w), of(conv.dilation.h), of(conv.dilation.w),
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        what, "preparing");
  check(cudnnSetConvolutionMathType(made, math_of(precision)), what, "preparing");
  return descriptor;
}

std::string text(Pair pair) {
  return pair.h == pair.w ? std::to_string(pair.h) : std::to_string(pair.h) + " x " + std::to_string(pair.w);
}

// More than 15 fields: cuDNN wants each tensor, the filter and the convolution described by an object of its own.
class Conv2dOperation : public Operation {
 public:
  Conv2dOperation(Context& context, const CudaTensor& x, const CudaTensor& y, const Conv2d& conv, const Extent& weights,
                  const Extent& bias)
      : context_(context),
        what_("conv2d of " + to_string(x.shape()) + " to " + to_string(y.shape()) + " with kernel " +
              text(conv.kernel) + ", stride " + text(conv.stride) + ", padding " + text(conv.padding)),
        weights_extent_(weights),
        x_(x.value()),
        x_gradient_(x.gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        x_factor_(context, Context::Part::x, x.shape().elements(), what_),
        weights_factor_(context, Context::Part::weights, weights.elements, what_),
        y_factor_(context, Context::Part::y, y.shape().elements(), what_),
        x_descriptor_(describe(x.shape(), what_, cudnn_type(context.precision()))),
        y_descriptor_(describe(y.shape(), what_, cudnn_type(context.precision()))),
        weights_(describe_weights(x.shape(), conv, cudnn_type(context.precision()), what_)),
        convolution_(describe_convolution(conv, context.precision(), what_)),
        bias_(context, y.shape(), bias, what_),
        workspaces_(ask_workspaces()) {
    context_.reserve_workspace(std::max({workspaces_.forward, workspaces_.weights, workspaces_.input}), what_);
  }

  void forward() override {
    check(cudnnConvolutionForward(context_.cudnn(), &kOne, x_descriptor_.get(), x_factor_.rounded(x_, what_),
                                  weights_.get(), weights(), convolution_.get(), kForward, context_.workspace(),
                                  workspaces_.forward, &kZero, y_descriptor_.get(), y_factor_.result(y_)),
          what_, "forward");
    y_factor_.keep(y_, what_);
    bias_.add_to(y_, what_);
  }

  void backward_parameters() override {
    float* const gradient = context_.gradients_at(weights_extent_);
    bias_.backward(y_gradient_, what_);
    check(cudnnConvolutionBackwardFilter(context_.cudnn(), &kOne, x_descriptor_.get(), x_factor_.rounded(x_, what_),
                                         y_descriptor_.get(), y_gradient(), convolution_.get(), kBackwardWeights,
                                         context_.workspace(), workspaces_.weights, &kZero, weights_.get(),
                                         weights_factor_.result(gradient)),
          what_, "gradient of the weights");
    weights_factor_.keep(gradient, what_);
  }

  void backward_input() override {
    check(cudnnConvolutionBackwardData(context_.cudnn(), &kOne, weights_.get(), weights(), y_descriptor_.get(),
                                       y_gradient(), convolution_.get(), kBackwardInput, context_.workspace(),
                                       workspaces_.input, &kZero, x_descriptor_.get(), x_factor_.result(x_gradient_)),
          what_, "gradient of the input");
    x_factor_.keep(x_gradient_, what_);
  }

 private:
  [[nodiscard]] const void* weights() const {
    return weights_factor_.rounded(context_.weights_at(weights_extent_), what_);
  }
  [[nodiscard]] const void* y_gradient() const { return y_factor_.rounded(y_gradient_, what_); }

  [[nodiscard]] Workspaces ask_workspaces() const {
    Workspaces sizes;
    check(cudnnGetConvolutionForwardWorkspaceSize(context_.cudnn(), x_descriptor_.get(), weights_.get(),
                                                  convolution_.get(), y_descriptor_.get(), kForward, &sizes.forward),
          what_, "preparing forward");
    check(cudnnGetConvolutionBackwardFilterWorkspaceSize(context_.cudnn(), x_descriptor_.get(), y_descriptor_.get(),
                                                         convolution_.get(), weights_.get(), kBackwardWeights,
                                                         &sizes.weights),
          what_, "preparing the gradient of the weights");
    if (x_gradient_ != nullptr) {
      check(cudnnGetConvolutionBackwardDataWorkspaceSize(context_.cudnn(), weights_.get(), y_descriptor_.get(),
                                                         convolution_.get(), x_descriptor_.get(), kBackwardInput,
                                                         &sizes.input),
            what_, "preparing the gradient of the input");
    }
    return sizes;
  }

  Context& context_;
  std::string what_;
  Extent weights_extent_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  Factor x_factor_;
  Factor weights_factor_;
  Factor y_factor_;
  TensorDescriptor x_descriptor_;
  TensorDescriptor y_descriptor_;
  FilterDescriptor weights_;
  ConvolutionDescriptor convolution_;
  Bias bias_;
  Workspaces workspaces_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Conv2d& conv) {
  const auto is_square = [](Pair pair) { return pair.h == pair.w; };
  if (conv.groups != 1 || !conv.bias || conv.dilation != Pair(1) || !is_square(conv.kernel) ||
      !is_square(conv.stride) || !is_square(conv.padding)) {
    throw std::invalid_argument(
        "the cuda backend has no convolution in groups, without a bias, with a dilation or with unequal sides");
  }
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<Conv2dOperation>(context, as_cuda(*task.inputs[0]), *y, conv,
                                                     task.parameters[0].extent, task.parameters[1].extent);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
