// A bias for each channel, by cuDNN: what convolutions and linear layers have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/context.h"

namespace ballast::cuda {

// Dense NCHW.
TensorDescriptor describe(const Shape& shape, std::string_view what, cudnnDataType_t type = CUDNN_DATA_FLOAT);

class Bias {
 public:
  // Of activations of this shape. Without a place: no bias, and nothing is done.
  Bias(const Context& context, const Shape& y, const ParameterPlace* place, std::string_view what);

  void add_to(float* y, std::string_view what) const;
  // The bias's gradient becomes the sums of y's over all but the channels, or takes them up where it is shared.
  void backward(const float* y_gradient, std::string_view what) const;

 private:
  const Context& context_;
  std::optional<ParameterPlace> place_;
  TensorDescriptor y_;
  TensorDescriptor bias_;
};

}  // namespace ballast::cuda
