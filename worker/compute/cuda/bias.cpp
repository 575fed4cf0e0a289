#include "worker/compute/cuda/bias.h"

#include "worker/compute/cuda/status.h"

namespace ballast::cuda {

TensorDescriptor describe(const Shape& shape, std::string_view what, cudnnDataType_t type) {
  cudnnTensorDescriptor_t made = nullptr;
  check(cudnnCreateTensorDescriptor(&made), what, "preparing");
  TensorDescriptor descriptor(made);
  check(cudnnSetTensor4dDescriptor(made, CUDNN_TENSOR_NCHW, type, static_cast<int>(shape.rows()),
                                   static_cast<int>(shape.c), static_cast<int>(shape.h), static_cast<int>(shape.w)),
        what, "preparing");
  return descriptor;
}

Bias::Bias(const Context& context, const Shape& y, const ParameterPlace* place, std::string_view what)
    : context_(context), y_(describe(y, what)), bias_(describe(Shape{1, y.c, 1, 1}, what)) {
  if (place != nullptr) {
    place_ = *place;
  }
}

void Bias::add_to(float* y, std::string_view what) const {
  if (place_) {
    check(cudnnAddTensor(context_.cudnn(), &kOne, bias_.get(), context_.weights_at(place_->extent), &kOne, y_.get(), y),
          what, "adding the bias");
  }
}

void Bias::backward(const float* y_gradient, std::string_view what) const {
  if (place_) {
    check(cudnnConvolutionBackwardBias(context_.cudnn(), &kOne, y_.get(), y_gradient, place_->adds ? &kOne : &kZero,
                                       bias_.get(), context_.gradients_at(place_->extent)),
          what, "gradient of the bias");
  }
}

}  // namespace ballast::cuda
