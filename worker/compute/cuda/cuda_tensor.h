// An activation of the cuda backend: NCHW in the device's memory, its gradient the same.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/memory.h"

namespace ballast::cuda {

// Marks a constructor.
struct OwnGradient {};

class CudaTensor : public Tensor {
 public:
  // Of its own memory.
  CudaTensor(const Shape& shape, bool with_gradient)
      : Tensor(shape, with_gradient), value_(allocate(shape)), gradient_(with_gradient ? allocate(shape) : nullptr) {}
  // Another name for the memory of `other`.
  CudaTensor(const CudaTensor& other, std::in_place_t) : CudaTensor(other.shape(), other) {}
  // The same in another shape, of as many values.
  CudaTensor(const Shape& shape, const CudaTensor& other)
      : Tensor(shape, other.with_gradient()), value_(other.value_), gradient_(other.gradient_) {}
  // Another name for the value of `other`, with a gradient of its own.
  CudaTensor(const CudaTensor& other, OwnGradient /*mark*/)
      : Tensor(other.shape(), true), value_(other.value_), gradient_(allocate(other.shape())) {}

  [[nodiscard]] float* value() const { return value_->data(); }
  // Null without a gradient.
  [[nodiscard]] float* gradient() const { return gradient_ ? gradient_->data() : nullptr; }

 private:
  using Memory = std::shared_ptr<DeviceBuffer<float>>;

  static Memory allocate(const Shape& shape) {
    return std::make_shared<DeviceBuffer<float>>(shape.elements(), "an activation of " + to_string(shape));
  }

  Memory value_;
  Memory gradient_;
};

// Every tensor that reaches this backend was made by it.
inline CudaTensor& as_cuda(Tensor& tensor) { return static_cast<CudaTensor&>(tensor); }
inline const CudaTensor& as_cuda(const Tensor& tensor) { return static_cast<const CudaTensor&>(tensor); }

}  // namespace ballast::cuda
