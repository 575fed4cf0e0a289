// Convolution along the steps of sequences: a two-dimensional one of images whose width is the steps. cuDNN wants these
// innermost, so sequences are turned before it and after it.
#include <string>
#include <utility>

#include "worker/compute/conv1d_as_2d.h"
#include "worker/compute/cuda/bias.h"
#include "worker/compute/cuda/convolution.h"
#include "worker/compute/cuda/kernels/sequences.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/cuda/upload.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

class Conv1dOperation : public Operation {
 public:
  Conv1dOperation(Context& context, const LayerTask& task, const CudaTensor& y, const Conv1d& conv)
      : context_(context),
        what_("conv1d of " + to_string(task.inputs[0]->shape()) + " to " + to_string(y.shape()) + " with kernel " +
              std::to_string(conv.kernel) + ", stride " + std::to_string(conv.stride) + ", padding " +
              std::to_string(conv.padding) + ", dilation " + std::to_string(conv.dilation) + ", groups " +
              std::to_string(conv.groups)),
        x_shape_(task.inputs[0]->shape()),
        y_shape_(y.shape()),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        lengths_(x_shape_, what_),
        x_image_(as_image(x_shape_), task.inputs[0]->with_gradient()),
        y_image_(as_image(y_shape_), true),
        bias_(context, y_image_.shape(), conv.bias ? &task.parameters[1] : nullptr, what_),
        convolution_(context, x_image_.shape(), y_image_.shape(), as_2d(conv), task.parameters[0].extent,
                     x_image_.with_gradient(), what_) {}

  void forward() override {
    lengths_.send(context_, what_);
    turn({x_shape_.n, x_shape_.steps, x_shape_.c}, x_, x_image_.value());
    clear_padding({x_shape_.n, x_shape_.c, x_shape_.steps, 1}, x_image_.value());
    convolution_.find_y(x_image_.value(), y_image_.value());
    bias_.add_to(y_image_.value(), what_);
    turn({y_shape_.n, y_shape_.c, y_shape_.steps}, y_image_.value(), y_);
  }

  void backward_parameters() override {
    turn({y_shape_.n, y_shape_.steps, y_shape_.c}, y_gradient_, y_image_.gradient());
    bias_.backward(y_image_.gradient(), what_);
    convolution_.find_weights_gradient(x_image_.value(), y_image_.gradient());
  }

  // The gradient of y was turned for the parameters.
  void backward_input() override {
    convolution_.find_x(y_image_.gradient(), x_image_.gradient());
    turn({x_shape_.n, x_shape_.c, x_shape_.steps}, x_image_.gradient(), x_gradient_);
    clear_padding({x_shape_.n, 1, x_shape_.steps, x_shape_.c}, x_gradient_);
  }

 private:
  void turn(const Matrices& matrices, const float* from, float* to) const {
    check(launch_transpose(matrices, from, to, context_.compute()), what_, "turning");
  }
  void clear_padding(const PaddedSteps& shape, float* values) const {
    check(launch_clear_padding(shape, lengths_.data(), values, context_.compute()), what_, "clearing padding");
  }

  Context& context_;
  std::string what_;
  Shape x_shape_;
  Shape y_shape_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  Lengths lengths_;
  CudaTensor x_image_;
  CudaTensor y_image_;
  Bias bias_;
  Convolution convolution_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Conv1d& conv) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<Conv1dOperation>(context, task, *y, conv);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
