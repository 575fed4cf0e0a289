// An activation of the cpu backend.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <utility>

#include "worker/compute/backend.h"
#include "worker/compute/cpu/context.h"

namespace ballast::cpu {

class CpuTensor : public Tensor {
 public:
  // Of its own memory, zero at first. The gradient has the value's layout.
  CpuTensor(const Context& context, const Shape& shape, const dnnl::memory::desc& desc, bool with_gradient)
      : Tensor(shape, with_gradient), value_(desc, context.engine) {
    if (with_gradient) {
      gradient_ = dnnl::memory(desc, context.engine);
    }
  }
  // Another name for the value of `other`, with a gradient of its own if that has one.
  CpuTensor(const Context& context, const CpuTensor& other)
      : Tensor(other.shape(), other.with_gradient()), value_(other.value_) {
    if (other.with_gradient()) {
      gradient_ = dnnl::memory(value_.get_desc(), context.engine);
    }
  }
  // Of memories that may belong to others, too; the gradient may be empty.
  CpuTensor(const Shape& shape, dnnl::memory value, dnnl::memory gradient)
      : Tensor(shape, static_cast<bool>(gradient)), value_(std::move(value)), gradient_(std::move(gradient)) {}
  // Another name for the memory of `other`.
  explicit CpuTensor(const CpuTensor& other, std::in_place_t)
      : Tensor(other.shape(), other.with_gradient()), value_(other.value_), gradient_(other.gradient_) {}

  [[nodiscard]] const dnnl::memory& value() const { return value_; }
  // Empty without a gradient.
  [[nodiscard]] const dnnl::memory& gradient() const { return gradient_; }

 private:
  dnnl::memory value_;
  dnnl::memory gradient_;
};

// Every tensor that reaches this backend was made by it.
inline CpuTensor& as_cpu(Tensor& tensor) { return static_cast<CpuTensor&>(tensor); }
inline const CpuTensor& as_cpu(const Tensor& tensor) { return static_cast<const CpuTensor&>(tensor); }

}  // namespace ballast::cpu
