// Convolution of images, and its transpose, which is the same products with input and output in each other's place.
#include <string>
#include <utility>

#include "worker/compute/cuda/bias.h"
#include "worker/compute/cuda/convolution.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

template <typename Layer>
std::string describe_layer(const LayerTask& task, const Layer& conv, const Shape& y) {
  std::string all = name_of(task.layer) + " of " + to_string(task.inputs[0]->shape()) + " to " + to_string(y) +
                    " with kernel " + text(conv.kernel) + ", stride " + text(conv.stride) + ", padding " +
                    text(conv.padding);
  if constexpr (requires { conv.dilation; }) {
    all += ", dilation " + text(conv.dilation);
  }
  return all + ", groups " + std::to_string(conv.groups);
}

// The convolution that a transposed one is the backward pass of.
Conv2d mirrored(const TransposedConv2d& conv, const Shape& x) {
  Conv2d same;
  same.channels = x.c;
  same.kernel = conv.kernel;
  same.stride = conv.stride;
  same.padding = conv.padding;
  same.groups = conv.groups;
  return same;
}

// What both read and write.
class ConvOperation : public Operation {
 public:
  ConvOperation(Context& context, const LayerTask& task, const CudaTensor& y, bool bias, std::string what)
      : what_(std::move(what)),
        x_(as_cuda(*task.inputs[0]).value()),
        x_gradient_(as_cuda(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()),
        bias_(context, y.shape(), bias ? &task.parameters[1] : nullptr, what_) {}

  void forward() final {
    find_output(x_, y_);
    bias_.add_to(y_, what_);
  }
  void backward_parameters() final {
    bias_.backward(y_gradient_, what_);
    find_weights_gradient(x_, y_gradient_);
  }
  void backward_input() final { find_input_gradient(y_gradient_, x_gradient_); }

 protected:
  virtual void find_output(const float* x, float* y) const = 0;
  virtual void find_weights_gradient(const float* x, const float* y_gradient) const = 0;
  virtual void find_input_gradient(const float* y_gradient, float* x_gradient) const = 0;

 private:
  std::string what_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
  Bias bias_;
};

class Conv2dOperation : public ConvOperation {
 public:
  Conv2dOperation(Context& context, const LayerTask& task, const CudaTensor& y, const Conv2d& conv,
                  const std::string& what)
      : ConvOperation(context, task, y, conv.bias, what),
        convolution_(context, task.inputs[0]->shape(), y.shape(), conv, task.parameters[0].extent,
                     task.inputs[0]->with_gradient(), what) {}

 private:
  void find_output(const float* x, float* y) const override { convolution_.find_y(x, y); }
  void find_weights_gradient(const float* x, const float* y_gradient) const override {
    convolution_.find_weights_gradient(x, y_gradient);
  }
  void find_input_gradient(const float* y_gradient, float* x_gradient) const override {
    convolution_.find_x(y_gradient, x_gradient);
  }

  Convolution convolution_;
};

class TransposedConv2dOperation : public ConvOperation {
 public:
  TransposedConv2dOperation(Context& context, const LayerTask& task, const CudaTensor& y, const TransposedConv2d& conv,
                            const std::string& what)
      : ConvOperation(context, task, y, conv.bias, what),
        mirrored_(context, y.shape(), task.inputs[0]->shape(), mirrored(conv, task.inputs[0]->shape()),
                  task.parameters[0].extent, true, what) {}

 private:
  void find_output(const float* x, float* y) const override { mirrored_.find_x(x, y); }
  void find_weights_gradient(const float* x, const float* y_gradient) const override {
    mirrored_.find_weights_gradient(y_gradient, x);
  }
  void find_input_gradient(const float* y_gradient, float* x_gradient) const override {
    mirrored_.find_y(y_gradient, x_gradient);
  }

  Convolution mirrored_;
};

template <typename Made, typename Layer>
Prepared make_convolution(Context& context, const LayerTask& task, const Layer& conv) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<Made>(context, task, *y, conv, describe_layer(task, conv, y->shape()));
  return {std::move(operation), std::move(y)};
}

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Conv2d& conv) {
  return make_convolution<Conv2dOperation>(context, task, conv);
}

Prepared make(Context& context, const LayerTask& task, const TransposedConv2d& conv) {
  return make_convolution<TransposedConv2dOperation>(context, task, conv);
}

}  // namespace ballast::cuda
