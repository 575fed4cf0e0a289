#include "worker/compute/cuda/convolution.h"

#include <algorithm>
#include <utility>

#include "worker/compute/cuda/bias.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

constexpr auto kForward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
constexpr auto kBackwardWeights = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;  // 0 and 3 add atomically
constexpr auto kBackwardInput = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;      // 0 adds atomically

FilterDescriptor describe_weights(const Shape& x, const Conv2d& conv, cudnnDataType_t type, std::string_view what) {
  cudnnFilterDescriptor_t made = nullptr;
  check(cudnnCreateFilterDescriptor(&made), what, "preparing");
  FilterDescriptor descriptor(made);
  check(cudnnSetFilter4dDescriptor(made, type, CUDNN_TENSOR_NCHW, static_cast<int>(conv.channels),
                                   static_cast<int>(x.c / conv.groups), static_cast<int>(conv.kernel.h),
                                   static_cast<int>(conv.kernel.w)),
        what, "preparing");
  return descriptor;
}

// cuDNN's default is TF32 where the device has it. Factors in bfloat16 want tensor cores named.
cudnnMathType_t cudnn_math_of(Precision precision) {
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
  check(cudnnSetConvolutionGroupCount(made, of(conv.groups)), what, "preparing");
  check(cudnnSetConvolutionMathType(made, cudnn_math_of(precision)), what, "preparing");
  return descriptor;
}

}  // namespace

Convolution::Convolution(Context& context, const Shape& x, const Shape& y, const Conv2d& conv, const Extent& weights,
                         bool finds_x, std::string what)
    : context_(context),
      what_(std::move(what)),
      weights_extent_(weights),
      x_factor_(context, Context::Part::x, x.elements(), what_),
      weights_factor_(context, Context::Part::weights, weights.elements, what_),
      y_factor_(context, Context::Part::y, y.elements(), what_),
      x_(describe(x, what_, cudnn_type(context.precision()))),
      y_(describe(y, what_, cudnn_type(context.precision()))),
      weights_(describe_weights(x, conv, cudnn_type(context.precision()), what_)),
      convolution_(describe_convolution(conv, context.precision(), what_)),
      workspaces_(ask_workspaces(finds_x)) {
  context_.reserve_workspace(std::max({workspaces_.y, workspaces_.weights, workspaces_.x}), what_);
}

void Convolution::find_y(const float* x, float* y) const {
  check(cudnnConvolutionForward(context_.cudnn(), &kOne, x_.get(), x_factor_.rounded(x, what_), weights_.get(),
                                weights(), convolution_.get(), kForward, context_.workspace(), workspaces_.y, &kZero,
                                y_.get(), y_factor_.result(y)),
        what_, "convolution");
  y_factor_.keep(y, what_);
}

void Convolution::find_x(const float* y_gradient, float* x_gradient) const {
  check(
      cudnnConvolutionBackwardData(context_.cudnn(), &kOne, weights_.get(), weights(), y_.get(),
                                   y_factor_.rounded(y_gradient, what_), convolution_.get(), kBackwardInput,
                                   context_.workspace(), workspaces_.x, &kZero, x_.get(), x_factor_.result(x_gradient)),
      what_, "convolution backward");
  x_factor_.keep(x_gradient, what_);
}

void Convolution::find_weights_gradient(const float* x, const float* y_gradient) const {
  float* const gradient = context_.gradients_at(weights_extent_);
  check(cudnnConvolutionBackwardFilter(context_.cudnn(), &kOne, x_.get(), x_factor_.rounded(x, what_), y_.get(),
                                       y_factor_.rounded(y_gradient, what_), convolution_.get(), kBackwardWeights,
                                       context_.workspace(), workspaces_.weights, &kZero, weights_.get(),
                                       weights_factor_.result(gradient)),
        what_, "gradient of the weights");
  weights_factor_.keep(gradient, what_);
}

Convolution::Workspaces Convolution::ask_workspaces(bool finds_x) const {
  Workspaces sizes;
  check(cudnnGetConvolutionForwardWorkspaceSize(context_.cudnn(), x_.get(), weights_.get(), convolution_.get(),
                                                y_.get(), kForward, &sizes.y),
        what_, "preparing");
  check(cudnnGetConvolutionBackwardFilterWorkspaceSize(context_.cudnn(), x_.get(), y_.get(), convolution_.get(),
                                                       weights_.get(), kBackwardWeights, &sizes.weights),
        what_, "preparing the gradient of the weights");
  if (finds_x) {
    check(cudnnGetConvolutionBackwardDataWorkspaceSize(context_.cudnn(), weights_.get(), y_.get(), convolution_.get(),
                                                       x_.get(), kBackwardInput, &sizes.x),
          what_, "preparing the gradient of the input");
  }
  return sizes;
}

std::string text(Pair pair) {
  return pair.h == pair.w ? std::to_string(pair.h) : std::to_string(pair.h) + " x " + std::to_string(pair.w);
}

}  // namespace ballast::cuda
